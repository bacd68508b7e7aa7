package dev.activator.backend;

import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Settings of the probes, which decide which destinations are healthy.
 *
 * @param addressing read by any thread; its value may change
 * @param probeFrequency the longest pause between two probes of a pod that is starting
 * @param repeatsPerSecond limits probes of failed addresses, and of new ones that no request waits
 *     for, over all revisions; ten times as many if the host refuses connections and a request waits
 */
public record ProbeSettings(Supplier<MeshAddressing> addressing, Duration probeTimeout,
    Duration probeFrequency, int repeatsPerSecond) {
  /** Knative's defaults; Knative has no rate limit. */
  public static final ProbeSettings DEFAULT = new ProbeSettings(
      () -> MeshAddressing.DEFAULT,
      Duration.ofMillis(300), Duration.ofMillis(200), 500);
}
