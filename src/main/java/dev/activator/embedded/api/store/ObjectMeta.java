package dev.activator.embedded.api.store;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the metadata of an object. A value that is absent or has the wrong type counts as empty.
 */
public final class ObjectMeta {
  /** The finalizers of the garbage collector. */
  public static final String ORPHAN = "orphan";
  public static final String FOREGROUND = "foregroundDeletion";

  private ObjectMeta() {}

  public static String name(JsonNode object) {
    return field(object, "name");
  }

  public static String namespace(JsonNode object) {
    return field(object, "namespace");
  }

  public static String uid(JsonNode object) {
    return field(object, "uid");
  }

  public static String resourceVersion(JsonNode object) {
    return field(object, "resourceVersion");
  }

  public static long revision(JsonNode stored) {
    return Long.parseLong(resourceVersion(stored));
  }

  public static Map<String, String> labels(JsonNode object) {
    var labels = new TreeMap<String, String>();
    for (var label : object.path("metadata").path("labels").properties()) {
      labels.put(label.getKey(), label.getValue().asString(""));
    }
    return Collections.unmodifiableMap(labels);
  }

  public static boolean terminating(JsonNode object) {
    return object.path("metadata").has("deletionTimestamp");
  }

  public static boolean hasFinalizers(JsonNode object) {
    return !object.path("metadata").path("finalizers").isEmpty();
  }

  public static boolean hasFinalizer(JsonNode object, String name) {
    return object.path("metadata").path("finalizers").valueStream()
        .anyMatch(finalizer -> finalizer.asString("").equals(name));
  }

  public static String key(JsonNode object) {
    return key(namespace(object), name(object));
  }

  public static String key(String namespace, String name) {
    return namespace.isEmpty() ? name : namespace + "/" + name;
  }

  /** The metadata, which is created if it is absent. */
  public static ObjectNode of(ObjectNode object) {
    return object.get("metadata") instanceof ObjectNode metadata
        ? metadata
        : object.putObject("metadata");
  }

  private static String field(JsonNode object, String name) {
    return object.path("metadata").path(name).stringValue("");
  }
}
