package dev.activator.testing.faults;

import dev.activator.embedded.api.store.Json;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Events as bytes, written in other ways than the server would. */
public final class EncodedEvents {
  private static final JsonMapper UNESCAPED = JsonMapper.builder().build();
  private static final int HUGE_BYTES = 5 * 1024 * 1024;

  private EncodedEvents() {}

  /** With its characters as they are, in UTF-8. */
  public static byte[] unescaped(byte[] event) {
    return UNESCAPED.writeValueAsBytes(UNESCAPED.readTree(event));
  }

  /** One event of many in this shape; the others as they are. */
  public static UnaryOperator<byte[]> malformed(int number, Fault.Malformed.Shape shape) {
    var seen = new AtomicInteger();
    return event -> seen.incrementAndGet() == number ? shaped(event, shape) : event;
  }

  private static byte[] shaped(byte[] event, Fault.Malformed.Shape shape) {
    var tree = (ObjectNode) Json.MAPPER.readTree(event);
    var object = (ObjectNode) tree.get("object");
    switch (shape) {
      case UNKNOWN_TYPE -> tree.put("type", "SOMETHING");
      case UNKNOWN_KIND -> object.put("kind", "Unheard").put("apiVersion", "of.example/v1");
      case NO_METADATA -> object.remove("metadata");
      case OTHER_KIND -> otherKind(object);
      case HUGE -> object.put("filler", "x".repeat(HUGE_BYTES));
      case TRUNCATED_JSON -> {
        return Arrays.copyOf(event, event.length / 2);
      }
    }
    return Json.bytes(tree);
  }

  private static void otherKind(ObjectNode object) {
    boolean secret = object.path("kind").asString("").equals("Secret");
    object.put("kind", secret ? "ConfigMap" : "Secret").put("apiVersion", "v1");
  }
}
