package dev.activator.embedded.runtime;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** The list of conditions in an object's status. */
final class Conditions {
  private final ArrayNode list;
  private final String now;

  private Conditions(ArrayNode list, String now) {
    this.list = list;
    this.now = now;
  }

  /** Those of this object, made if there are none; changes carry this time. */
  static Conditions of(ObjectNode object, String now) {
    var status = object.get("status") instanceof ObjectNode known
        ? known
        : object.putObject("status");
    var list = status.get("conditions") instanceof ArrayNode known
        ? known
        : status.putArray("conditions");
    return new Conditions(list, now);
  }

  /** Whether this condition of the object is true. */
  static boolean isTrue(JsonNode object, String type) {
    return find(object, type).path("status").stringValue("").equals("True");
  }

  /** It holds. Its time stays where it held before. */
  Conditions hold(String type) {
    var condition = condition(type);
    if (!condition.path("status").stringValue("").equals("True")) {
      condition.put("status", "True").put("lastTransitionTime", now);
      condition.remove("reason");
      condition.remove("message");
    }
    return this;
  }

  /** It fails, now, whatever it was before. */
  Conditions fail(String type, String reason, String message) {
    condition(type).put("status", "False").put("reason", reason).put("message", message)
        .put("lastTransitionTime", now);
    return this;
  }

  /** The condition of this type, or nothing. */
  static JsonNode find(JsonNode object, String type) {
    for (var condition : object.path("status").path("conditions")) {
      if (condition.path("type").stringValue("").equals(type)) {
        return condition;
      }
    }
    return MissingNode.getInstance();
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
