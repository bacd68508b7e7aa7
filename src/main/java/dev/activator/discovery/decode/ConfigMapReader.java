package dev.activator.discovery.decode;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedObjectReader;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads the data of a ConfigMap. */
public final class ConfigMapReader implements WatchedObjectReader<ConfigMapReader.Texts> {
  /**
   * A key that has only documentation, but most of the bytes of Knative's ConfigMapWatcher. It is
   * skipped.
   */
  private static final String EXAMPLE = "_example";

  private Map<String, String> data = Map.of();

  public record Texts(String namespace, String name, Map<String, String> data) {}

  @Override
  public void field(String name, JsonCursor in) {
    if (name.equals("data")) {
      data = new LinkedHashMap<>(in.texts());
      data.remove(EXAMPLE);
    }
  }

  @Override
  public Texts decoded(DecodedMetadata metadata, JsonCursor in) {
    return new Texts(metadata.namespace(), metadata.name(), Map.copyOf(data));
  }
}
