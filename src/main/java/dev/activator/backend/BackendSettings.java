package dev.activator.backend;

import dev.activator.backend.policy.ProbeTraits.MeshAddressing;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * How the pods of all revisions are probed.
 *
 * @param addressing whether a mesh is in the way, as it is configured now; any thread may ask
 * @param probeTimeout the longest from a probe's start to its answer; positive
 * @param probeFrequency the longest pause between two probes of a pod that starts; positive
 * @param repeatsPerSecond the most probes a second of addresses that failed their last one, of all
 *     revisions together; positive
 */
public record BackendSettings(Supplier<MeshAddressing> addressing, Duration probeTimeout,
    Duration probeFrequency, int repeatsPerSecond) {
  /** Knative's defaults, and a rate limit that it does not have. */
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
