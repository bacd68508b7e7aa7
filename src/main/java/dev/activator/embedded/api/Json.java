package dev.activator.embedded.api;

import java.util.Comparator;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** How objects become bytes and compare. */
public final class Json {
  /**
   * Writes ASCII alone: one Kubernetes client's line reader breaks on anything else in a watch.
   * Reads what it wrote, and refuses text after the document.
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

  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** Whether both say the same; a number is the same however it was written. */
  public static boolean same(JsonNode one, JsonNode other) {
    return one.equals(BY_VALUE, other);
  }

  public static byte[] bytes(JsonNode node) {
    return MAPPER.writeValueAsBytes(node);
  }
}
