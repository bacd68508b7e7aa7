package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import java.util.Map;
import java.util.TreeMap;

/**
 * Creates the ConfigMapWatcher that Knative's components require at their start. An empty ConfigMap
 * means defaults.
 */
public final class DefaultConfigMapCreator {
  private static final String NAMESPACE = "knative-serving";
  private static final Map<String, Map<String, String>> CONTENTS = new TreeMap<>(
      Map.of("config-logging", Map.of(), "config-network", Map.of(), "config-observability",
          Map.of("metrics-protocol", "prometheus")));

  private DefaultConfigMapCreator() {}

  public static void createIn(ApiStore store) {
    CONTENTS.forEach((name, content) -> {
      var map = Json.object();
      ObjectMeta.of(map).put("namespace", NAMESPACE).put("name", name);
      if (!content.isEmpty()) {
        content.forEach(map.putObject("data")::put);
      }
      store.create(BuiltInKinds.CONFIG_MAP, map);
    });
  }
}
