package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Kinds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/** Which fields selectors may name: two of every kind, and a few more of some. */
public final class SelectableFields {
  private static final List<String> OF_ALL = List.of("metadata.name", "metadata.namespace");
  private static final Map<Kind, List<String>> MORE = Map.of(Kinds.EVENT,
      List.of("involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
          "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
          "involvedObject.fieldPath", "reason", "type"),
      Kinds.POD, List.of("status.phase", "spec.nodeName"), Kinds.SECRET, List.of("type"),
      Kinds.NAMESPACE, List.of("status.phase"));

  private SelectableFields() {}

  public static List<String> of(Kind kind) {
    var names = new ArrayList<>(OF_ALL);
    names.addAll(MORE.getOrDefault(kind, List.of()));
    return names;
  }

  static Map<String, String> of(Kind kind, JsonNode object) {
    var values = new TreeMap<String, String>();
    for (var name : of(kind)) {
      JsonNode node = object;
      for (var step : name.split("\\.", -1)) {
        node = node.path(step);
      }
      values.put(name, node.isValueNode() ? node.asString("") : "");
    }
    return values;
  }
}
