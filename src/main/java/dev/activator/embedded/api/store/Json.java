package dev.activator.embedded.api.store;

import java.util.ArrayDeque;
import java.util.Comparator;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The JSON mapper of the API, and functions on JSON trees. */
public final class Json {
  /**
   * The limit of an object's depth. It is less than the parser's limit, so that responses can wrap
   * an object.
   */
  public static final int MAX_DEPTH = 400;

  /**
   * The mapper, which writes only ASCII. The line reader of one Kubernetes client fails on other
   * characters.
   */
  public static final JsonMapper MAPPER = JsonMapper.builder()
      .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
      .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
      .build();

  private static final Comparator<JsonNode> BY_VALUE = (one, other) -> {
    if (one.isNumber() && other.isNumber()) {
      return one.decimalValue().compareTo(other.decimalValue());
    }
    return one.equals(other) ? 0 : 1;
  };

  private Json() {}

  private record Place(JsonNode container, int depth) {}

  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** Whether two trees are equal. Numbers are compared by value. */
  public static boolean same(JsonNode one, JsonNode other) {
    return one.equals(BY_VALUE, other);
  }

  /**
   * Removes values that mean the same as an absent field, because typed clients add or omit them.
   * Changes the tree.
   */
  public static JsonNode withoutUnset(JsonNode tree) {
    tree.forEach(Json::withoutUnset);
    if (tree instanceof ObjectNode object) {
      object.removeIf(value -> value.isNull() || value.isContainer() && value.isEmpty()
          || value.isString() && value.stringValue().isEmpty()
          || value.isBoolean() && !value.booleanValue());
    }
    return tree;
  }

  public static int depth(JsonNode tree) {
    int deepest = 0;
    var left = new ArrayDeque<Place>();
    if (tree.isContainer()) {
      left.push(new Place(tree, 1));
    }
    while (!left.isEmpty()) {
      var place = left.pop();
      deepest = Math.max(deepest, place.depth());
      place.container().valueStream().filter(JsonNode::isContainer)
          .forEach(inner -> left.push(new Place(inner, place.depth() + 1)));
    }
    return deepest;
  }

  public static byte[] bytes(JsonNode node) {
    return MAPPER.writeValueAsBytes(node);
  }

  /** A copy without nulls, which typed clients of Kubernetes treat as absent. */
  public static ObjectNode withoutNulls(ObjectNode object) {
    var left = object.deepCopy();
    left.properties().removeIf(entry -> entry.getValue().isNull());
    left.properties().forEach(entry -> {
      if (entry.getValue() instanceof ObjectNode inner) {
        entry.setValue(withoutNulls(inner));
      } else if (entry.getValue() instanceof ArrayNode list) {
        for (int i = 0; i < list.size(); i++) {
          if (list.get(i) instanceof ObjectNode item) {
            list.set(i, withoutNulls(item));
          }
        }
      }
    });
    return left;
  }
}
