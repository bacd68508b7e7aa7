package dev.activator.backend;

import dev.activator.backend.policy.ProbeTraits.MeshAddressing;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * @param addressing read by any thread; its value may change
 * @param probeFrequency the longest pause between two probes of a pod that is starting
 * @param repeatsPerSecond limits probes of failed addresses, and of new ones that no request waits
 *     for, over all revisions
 */
public record BackendSettings(Supplier<MeshAddressing> addressing, Duration probeTimeout,
    Duration probeFrequency, int repeatsPerSecond) {
  /** Knative's defaults; Knative has no rate limit. */
  public static final BackendSettings DEFAULT = new BackendSettings(
      () -> MeshAddressing.DEFAULT,
      Duration.ofMillis(300), Duration.ofMillis(200), 500);

  public BackendSettings {
    if (!probeTimeout.isPositive()) {
      throw new IllegalArgumentException("PROBE_TIMEOUT must be positive, not " + probeTimeout);
    }
    if (!probeFrequency.isPositive()) {
      throw new IllegalArgumentException(
          "PROBE_FREQUENCY must be positive, not " + probeFrequency);
    }
    if (repeatsPerSecond < 1) {
      throw new IllegalArgumentException(
          "activator.probe.repeats-per-second must be at least 1, not " + repeatsPerSecond);
    }
  }
}
