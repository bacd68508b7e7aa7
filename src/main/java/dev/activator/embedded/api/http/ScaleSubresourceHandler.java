package dev.activator.embedded.api.http;

import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Converts between an object and its {@code scale} subresource. */
final class ScaleSubresourceHandler {
  private ScaleSubresourceHandler() {}

  static ObjectNode of(Kind kind, ObjectNode object) {
    var scale = Json.object().put("kind", "Scale").put("apiVersion", "autoscaling/v1");
    var metadata = scale.putObject("metadata");
    for (var field : new String[]{"name", "namespace", "uid", "resourceVersion",
        "creationTimestamp"}) {
      metadata.set(field, object.path("metadata").path(field));
    }
    var spec = scale.putObject("spec");
    int replicas = object.path("spec").path(kind.replicasField()).asInt(0);
    // Go's encoder omits a zero here, so clients of a cluster do not find it.
    if (replicas != 0) {
      spec.put("replicas", replicas);
    }
    scale.putObject("status").put("replicas", object.at("/status/replicas").asInt(0))
        .put("selector", selector(object.at("/spec/selector/matchLabels")));
    return scale;
  }

  static void check(JsonNode scale) {
    String kind = scale.path("kind").stringValue("");
    if (!kind.isEmpty() && !kind.equals("Scale")) {
      throw StatusException.badRequest("a " + kind + " cannot be handled as a Scale");
    }
  }

  /** The configuration of the object that has the same effect as an apply of a scale. */
  static ObjectNode config(Kind kind, ObjectNode scale) {
    var config = Json.object().put("apiVersion", kind.apiVersion()).put("kind", kind.kind());
    config.set("metadata", scale.path("metadata"));
    config.putObject("spec").set(kind.replicasField(), scale.at("/spec/replicas"));
    return config;
  }

  static ObjectNode apply(Kind kind, ObjectNode object, JsonNode scale) {
    var replicas = scale.at("/spec/replicas");
    if (!replicas.isMissingNode() && (!replicas.isInt() || replicas.intValue() < 0)) {
      throw StatusException.invalid("spec.replicas",
          "Invalid value: " + replicas + ": must be a number that is not negative");
    }
    object.withObjectProperty("spec").put(kind.replicasField(), replicas.asInt(0));
    String version = scale.at("/metadata/resourceVersion").asString("");
    if (!version.isEmpty()) {
      object.withObjectProperty("metadata").put("resourceVersion", version);
    }
    return object;
  }

  private static String selector(JsonNode labels) {
    return labels.properties().stream()
        .map(label -> label.getKey() + "=" + label.getValue().asString(""))
        .collect(Collectors.joining(","));
  }
}
