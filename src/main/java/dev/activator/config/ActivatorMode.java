package dev.activator.config;

import java.util.Locale;
import java.util.Map;

/**
 * The kind of cluster that the activator works for. The name in lower case is the word in {@code
 * ACTIVATOR_MODE}.
 */
public enum ActivatorMode {
  /** The pod's own cluster, or a kubeconfig's. */
  CLUSTER,
  /** The same without Knative. */
  STANDALONE,
  EMBEDDED;

  /**
   * {@code ACTIVATOR_MODE} if it is set, else a cluster if one can be found.
   *
   * @throws IllegalArgumentException if it is not a mode, or no cluster can be found for a cluster
   */
  public static ActivatorMode of(Map<String, String> environment) {
    boolean cluster = isSet(environment, "KUBERNETES_SERVICE_HOST")
        || isSet(environment, "KUBECONFIG");
    return switch (environment.getOrDefault("ACTIVATOR_MODE", "").toLowerCase(Locale.ROOT)) {
      case "" -> cluster ? CLUSTER : EMBEDDED;
      case "embedded" -> EMBEDDED;
      case "cluster" -> require(cluster, CLUSTER);
      case "standalone" -> require(cluster, STANDALONE);
      default -> throw new IllegalArgumentException("ACTIVATOR_MODE is '"
          + environment.get("ACTIVATOR_MODE")
          + "', but can only be 'cluster', 'standalone' or 'embedded'");
    };
  }

  /** How to choose embedded mode, if KUBECONFIG alone chose a cluster; else empty. */
  public static String hint(Map<String, String> environment) {
    boolean chosen = isSet(environment, "KUBECONFIG") && !isSet(environment, "ACTIVATOR_MODE")
        && !isSet(environment, "KUBERNETES_SERVICE_HOST");
    return chosen
        ? "A cluster is used because KUBECONFIG is '" + environment.get("KUBECONFIG")
            + "'; to use the embedded cluster instead, start it with ACTIVATOR_MODE=embedded"
        : "";
  }

  private static ActivatorMode require(boolean found, ActivatorMode mode) {
    if (!found) {
      throw new IllegalArgumentException("ACTIVATOR_MODE is '" + mode.word()
          + "', but this is no pod "
          + "(KUBERNETES_SERVICE_HOST is not set) and neither KUBECONFIG nor --kubeconfig is given");
    }
    return mode;
  }

  private static boolean isSet(Map<String, String> environment, String name) {
    return !environment.getOrDefault(name, "").isBlank();
  }

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Of Spring: in a cluster the settings are the same with and without Knative. */
  public String profile() {
    return this == EMBEDDED ? word() : CLUSTER.word();
  }
}
