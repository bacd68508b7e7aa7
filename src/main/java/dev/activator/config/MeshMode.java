package dev.activator.config;

import java.util.Locale;

/**
 * Whether a service mesh may stand between the activator and the pods.
 *
 * <p>
 * <b>Source.</b> {@code mesh-compatibility-mode} in the ConfigMap {@code config-network}.
 */
public enum MeshMode {
  /** Found out from the answers to probes. */
  AUTO,
  /** There is one: pods are never addressed, requests go to the ClusterIP. */
  ENABLED,
  /** There is none: pods that Kubernetes calls ready are trusted, the ClusterIP is not used. */
  DISABLED;

  /** The mode of that name in any case; {@link #AUTO} for any other text, as Knative does. */
  public static MeshMode parse(String text) {
    return switch (text.strip().toLowerCase(Locale.ROOT)) {
      case "enabled" -> ENABLED;
      case "disabled" -> DISABLED;
      default -> AUTO;
    };
  }
}
