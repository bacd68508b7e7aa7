package dev.activator.embedded.runtime.serving;

import dev.activator.embedded.api.ApiStore;
import dev.activator.embedded.api.Json;
import dev.activator.embedded.api.Kinds;
import dev.activator.embedded.api.Meta;
import java.util.List;

/**
 * The ConfigMaps without which no component of Knative starts. They are empty, which stands for its
 * defaults, and can be edited.
 */
public final class SystemConfigMaps {
  private static final String NAMESPACE = "knative-serving";
  private static final List<String> NAMES = List.of("config-logging", "config-network",
      "config-observability");

  private SystemConfigMaps() {}

  /** Creates them in a store that has none. */
  public static void createIn(ApiStore store) {
    for (var name : NAMES) {
      var empty = Json.object();
      Meta.of(empty).put("namespace", NAMESPACE).put("name", name);
      store.create(Kinds.CONFIG_MAP, empty);
    }
  }
}
