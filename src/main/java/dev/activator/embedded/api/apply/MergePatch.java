package dev.activator.embedded.api.apply;

import dev.activator.embedded.api.schema.MergeSchema;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Applies merge patches and strategic merge patches. Objects are merged, null removes a field, and
 * any other value replaces it. In strategic merge patches, the members of some lists are merged by
 * the first of their keys.
 *
 * <p><b>Source.</b> RFC 7386; {@code util/strategicpatch/patch.go} in Kubernetes' apimachinery.
 */
public final class MergePatch {
  private static final String DIRECTIVE = "$patch";
  private static final String ORDER = "$setElementOrder/";
  private static final String DELETE_VALUES = "$deleteFromPrimitiveList/";
  /** The list to which a strategic merge patch adds values. */
  private static final String SET = "finalizers";

  private MergePatch() {}

  public static JsonNode apply(JsonNode target, JsonNode patch) {
    if (patch instanceof ArrayNode items) {
      // Go's library also removes null fields of items.
      return JsonNodeFactory.instance.arrayNode().addAll(
          items.valueStream().map(item -> apply(MissingNode.getInstance(), item)).toList());
    }
    if (!(patch instanceof ObjectNode changes)) {
      return patch;
    }
    var result = target instanceof ObjectNode object ? object.deepCopy() : Json.object();
    for (var change : changes.properties()) {
      String name = change.getKey();
      if (change.getValue().isNull()) {
        result.remove(name);
      } else {
        result.set(name, apply(result.path(name), change.getValue()));
      }
    }
    return result;
  }

  /**
   * Applies a strategic merge patch. Directives about keys to keep are ignored.
   */
  public static ObjectNode strategic(Kind kind, ObjectNode target, ObjectNode patch) {
    return merge(target, patch, MergeSchema.of(kind));
  }

  private static ObjectNode merge(ObjectNode target, ObjectNode patch, MergeSchema shape) {
    if (directive(patch).equals("replace")) {
      return patch.deepCopy().without(DIRECTIVE);
    }
    if (directive(patch).equals("delete")) {
      return Json.object();
    }
    var result = target.deepCopy();
    for (var change : patch.properties()) {
      String name = change.getKey();
      if (name.startsWith(DELETE_VALUES)) {
        if (result.path(name.substring(DELETE_VALUES.length())) instanceof ArrayNode left) {
          change.getValue().forEach(value -> left.removeIf(value::equals));
        }
      } else if (!name.startsWith("$")) {
        change(result, name, change.getValue(), shape.field(name));
      }
    }
    for (var change : patch.properties()) {
      var name = change.getKey().startsWith(ORDER)
          ? change.getKey().substring(ORDER.length())
          : "";
      if (result.path(name) instanceof ArrayNode merged
          && change.getValue() instanceof ArrayNode order) {
        result.set(name, ordered(merged, known(target.path(name), patch.path(name),
            shape.field(name)), order, shape.field(name).keys()));
      }
    }
    return result;
  }

  private static void change(ObjectNode result, String name, JsonNode value, MergeSchema shape) {
    switch (value) {
      case ObjectNode changes -> result.set(name, merge(
          result.get(name) instanceof ObjectNode present ? present : Json.object(), changes,
          shape));
      case ArrayNode changes -> {
        var present = result.get(name) instanceof ArrayNode list
            ? list
            : JsonNodeFactory.instance.arrayNode();
        result.set(name, name.equals(SET)
            ? ordered(union(present, changes), present, changes, List.of())
            : shape.keys().isEmpty()
                ? changes.deepCopy()
                : present.isEmpty()
                    ? members(present, changes, shape)
                    : ordered(members(present, changes, shape), present, changes, shape.keys()));
      }
      default -> {
        if (value.isNull()) {
          result.remove(name);
        } else {
          result.set(name, value);
        }
      }
    }
  }

  /** The old list as it is left in Go, where new members take the memory of deleted ones. */
  private static JsonNode known(JsonNode old, JsonNode patch, MergeSchema shape) {
    return old instanceof ArrayNode list && patch instanceof ArrayNode changes
        && !shape.keys().isEmpty()
            ? JsonNodeFactory.instance.arrayNode().addAll(
                members(list, changes, shape).valueStream().limit(list.size()).toList())
            : old;
  }

  /**
   * Merges the members of a list. A list that is not there, or is replaced, gets those of the patch
   * as they are, also if two have one key.
   *
   * @param shape of the list, which has a key
   */
  private static ArrayNode members(ArrayNode old, ArrayNode changes, MergeSchema shape) {
    var key = shape.keys().getFirst();
    boolean replaced = old.isEmpty()
        || changes.valueStream().anyMatch(one -> directive(one).equals("replace"));
    List<JsonNode> members = new ArrayList<>();
    if (!replaced) {
      old.forEach(members::add);
      changes.valueStream().filter(one -> directive(one).equals("delete")).forEach(
          one -> members.removeIf(member -> Json.same(member.path(key), one.path(key))));
    }
    for (var change : changes) {
      if (change instanceof ObjectNode member
          && !List.of("replace", "delete").contains(directive(member))) {
        int index = replaced ? -1 : index(members, member, shape.keys());
        if (index >= 0 && members.get(index) instanceof ObjectNode known) {
          members.set(index, merge(known, member, shape.others().get()));
        } else {
          members.add(merge(Json.object(), member, shape.others().get()));
        }
      }
    }
    return JsonNodeFactory.instance.arrayNode().addAll(members);
  }

  /**
   * Orders a merged list. The items of the patch have its order. The others keep theirs, and are
   * before an item of the patch only if they were so in the old list.
   */
  private static ArrayNode ordered(ArrayNode merged, JsonNode old, ArrayNode order,
      List<String> keys) {
    var patched = merged.valueStream().filter(item -> index(order, item, keys) >= 0)
        .sorted(Comparator.comparingInt(item -> index(order, item, keys))).toList();
    var result = JsonNodeFactory.instance.arrayNode();
    int next = 0;
    for (var item : merged) {
      if (index(order, item, keys) >= 0) {
        continue;
      }
      int place = index(old, item, keys);
      while (next < patched.size() && index(old, patched.get(next), keys) <= place) {
        result.add(patched.get(next++));
      }
      result.add(item);
    }
    return result.addAll(patched.subList(next, patched.size()));
  }

  private static int index(Iterable<JsonNode> list, JsonNode item, List<String> keys) {
    int i = 0;
    for (var one : list) {
      if (keys.isEmpty()
          ? Json.same(one, item)
          : Json.same(one.path(keys.getFirst()), item.path(keys.getFirst()))) {
        return i;
      }
      i++;
    }
    return -1;
  }

  private static ArrayNode union(ArrayNode old, ArrayNode changes) {
    var all = old.deepCopy();
    for (var value : changes) {
      if (all.valueStream().noneMatch(value::equals)) {
        all.add(value);
      }
    }
    return all;
  }

  private static String directive(JsonNode node) {
    return node.path(DIRECTIVE).stringValue("");
  }
}
