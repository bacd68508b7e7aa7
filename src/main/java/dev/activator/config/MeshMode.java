package dev.activator.config;

import java.util.Locale;

/**
 * Whether a service mesh may stand between the activator and the pods.
 *
 * <p><b>Source.</b> {@code mesh-compatibility-mode} in {@code config-network}.
 */
public enum MeshMode {
  /** A mesh is detected by the answers to probes. */
  AUTO,
  /** There is a mesh: requests are sent to the ClusterIP, never to pods. */
  ENABLED,
  /** There is no mesh: ready pods need no probe, and the ClusterIP is not used. */
  DISABLED;

  /** Parses the value; {@link #AUTO} for unknown text, as in Knative. */
  public static MeshMode parse(String text) {
    return switch (text.strip().toLowerCase(Locale.ROOT)) {
      case "enabled" -> ENABLED;
      case "disabled" -> DISABLED;
      default -> AUTO;
    };
  }
}
