package dev.activator.embedded.runtime;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** The conditions in the status of one object, which can be changed. */
public final class ConditionManager {
  /**
   * The format of times. It has microseconds, because the times of two failures within a second
   * must differ.
   */
  private static final DateTimeFormatter MICROS = DateTimeFormatter
      .ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

  private final ArrayNode list;
  private final String now;

  private ConditionManager(ArrayNode list, String now) {
    this.list = list;
    this.now = now;
  }

  /** @param now the transition time of conditions that change */
  public static ConditionManager of(ObjectNode object, Instant now) {
    return new ConditionManager(
        object.withObjectProperty("status").withArrayProperty("conditions"), MICROS.format(now));
  }

  /** The condition of a type; a missing node if there is none. */
  public static JsonNode find(JsonNode object, String type) {
    for (var condition : object.path("status").path("conditions")) {
      if (condition.path("type").stringValue("").equals(type)) {
        return condition;
      }
    }
    return MissingNode.getInstance();
  }

  public static boolean isTrue(JsonNode object, String type) {
    return find(object, type).path("status").stringValue("").equals("True");
  }

  public ConditionManager setTrue(String type) {
    setTrue(type, "", "").condition(type).remove(List.of("reason", "message"));
    return this;
  }

  /** Sets a condition to true. Its transition time stays if it was true before. */
  public ConditionManager setTrue(String type, String reason, String message) {
    var condition = condition(type).put("reason", reason).put("message", message);
    if (!condition.path("status").stringValue("").equals("True")) {
      condition.put("status", "True").put("lastTransitionTime", now);
    }
    return this;
  }

  public ConditionManager fail(String type, String reason, String message) {
    condition(type).put("status", "False").put("reason", reason).put("message", message)
        .put("lastTransitionTime", now);
    return this;
  }

  public ConditionManager unknown(String type, String reason, String message) {
    var condition = condition(type);
    if (!condition.path("status").stringValue("").equals("Unknown")) {
      condition.put("lastTransitionTime", now);
    }
    condition.put("status", "Unknown").put("reason", reason).put("message", message);
    return this;
  }

  private ObjectNode condition(String type) {
    for (var known : list) {
      if (known instanceof ObjectNode object
          && object.path("type").stringValue("").equals(type)) {
        return object;
      }
    }
    return list.addObject().put("type", type);
  }
}
