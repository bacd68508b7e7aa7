package dev.activator.embedded.api.store;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Objects merge, null removes, everything else replaces.
 *
 * <p>
 * <b>Source.</b> RFC 7386.
 */
public final class MergePatch {
  private MergePatch() {}

  public static JsonNode apply(JsonNode target, JsonNode patch) {
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
}
