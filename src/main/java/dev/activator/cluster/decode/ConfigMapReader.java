package dev.activator.cluster.decode;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The texts of a ConfigMap. */
public final class ConfigMapReader {
  /** Documentation, and most of the bytes of Knative's maps; nobody reads settings from it. */
  private static final String EXAMPLE = "_example";

  /** A ConfigMap, without its example and its binary part. */
  public record Texts(String namespace, String name, Map<String, String> data) {}

  private ConfigMapReader() {}

  static Texts read(Field object, List<String> remarks) {
    var metadata = object.at("metadata");
    var data = new LinkedHashMap<>(object.at("data").texts());
    data.remove(EXAMPLE);
    return new Texts(metadata.at("namespace").text(), metadata.at("name").text(),
        Map.copyOf(data));
  }
}
