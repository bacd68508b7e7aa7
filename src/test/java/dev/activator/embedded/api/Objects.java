package dev.activator.embedded.api;

import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import tools.jackson.databind.node.ObjectNode;

/** Objects for tests, with no more in them than a test is about. */
public final class Objects {
  private Objects() {}

  public static ObjectNode named(String name) {
    return in("default", name);
  }

  public static ObjectNode in(String namespace, String name) {
    var object = Json.object();
    object.putObject("metadata").put("namespace", namespace).put("name", name);
    return object;
  }

  public static ObjectNode labelled(String name, String label, String value) {
    var object = named(name);
    ObjectMeta.of(object).putObject("labels").put(label, value);
    return object;
  }

  public static ObjectNode with(ObjectNode object, String field, String value) {
    object.putObject("data").put(field, value);
    return object;
  }

  public static ObjectNode parse(String json) {
    return (ObjectNode) Json.MAPPER.readTree(json.replace('\'', '"'));
  }
}
