package dev.activator.config;

import java.util.Locale;

/**
 * Whether a service mesh may stand between the activator and the pods.
 *
 * <p><b>Source.</b> {@code mesh-compatibility-mode} in {@code config-network}.
 */
public enum MeshMode {
  /** Detected from the answers to probes. */
  AUTO,
  /** Requests go to the ClusterIP, never to pods. */
  ENABLED,
  /** Ready pods are trusted; the ClusterIP is not used. */
  DISABLED;

  /** {@link #AUTO} for unknown text, as in Knative. */
  public static MeshMode parse(String text) {
    return switch (text.strip().toLowerCase(Locale.ROOT)) {
      case "enabled" -> ENABLED;
      case "disabled" -> DISABLED;
      default -> AUTO;
    };
  }
}
