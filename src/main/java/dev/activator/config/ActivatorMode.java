package dev.activator.config;

import java.util.Locale;
import java.util.Map;

/**
 * The mode of the activator: the kind of cluster that it works for. The value of
 * {@code ACTIVATOR_MODE} is the name in lower case.
 */
public enum ActivatorMode {
  /** A cluster with Knative: that of the pod, or of a kubeconfig. */
  CLUSTER,
  /** A cluster without Knative. */
  STANDALONE,
  /** No cluster: the process brings its own API, and runs local processes as pods. */
  EMBEDDED;

  /**
   * The mode {@code ACTIVATOR_MODE} if that is set, or else that of {@link #withoutChoice}.
   *
   * @throws IllegalArgumentException if the variable is not a mode, or if the mode needs a cluster
   *     and none can be found
   */
  public static ActivatorMode of(Map<String, String> environment) {
    boolean cluster = withoutChoice(environment) == CLUSTER;
    return switch (environment.getOrDefault("ACTIVATOR_MODE", "").toLowerCase(Locale.ROOT)) {
      case "" -> withoutChoice(environment);
      case "embedded" -> EMBEDDED;
      case "cluster" -> require(cluster, CLUSTER);
      case "standalone" -> require(cluster, STANDALONE);
      default -> throw new IllegalArgumentException("ACTIVATOR_MODE is '"
          + environment.get("ACTIVATOR_MODE")
          + "', but can only be 'cluster', 'standalone' or 'embedded'");
    };
  }

  /** A cluster if one can be found, else embedded. */
  public static ActivatorMode withoutChoice(Map<String, String> environment) {
    return isSet(environment, "KUBERNETES_SERVICE_HOST") || isSet(environment, "KUBECONFIG")
        ? CLUSTER
        : EMBEDDED;
  }

  /**
   * A hint how to choose embedded mode if only KUBECONFIG has chosen a cluster; otherwise empty.
   */
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

  /** The Spring profile. Settings in a cluster are the same with and without Knative. */
  public String profile() {
    return this == EMBEDDED ? word() : CLUSTER.word();
  }
}
