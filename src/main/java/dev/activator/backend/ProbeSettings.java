package dev.activator.backend;

import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * The settings of the probes that decide which destinations are healthy.
 *
 * @param addressing read by any thread; its value may change
 * @param probeFrequency the longest pause between two probes of a pod that is starting
 * @param repeatsPerSecond the limit, over all revisions, of probes of failed addresses, and of new
 *     addresses for which no request waits
 */
public record ProbeSettings(Supplier<MeshAddressing> addressing, Duration probeTimeout,
    Duration probeFrequency, int repeatsPerSecond) {
  /** Knative's defaults; Knative has no rate limit. */
  public static final ProbeSettings DEFAULT = new ProbeSettings(() -> MeshAddressing.DEFAULT,
      Duration.ofMillis(300), Duration.ofMillis(200), 500);

  private static final int ATTEMPTS_PER_REPEAT = 10;

  /**
   * The maximum number of attempts a second to connect to addresses that refuse. It is higher than
   * that of other repeats, because a refusal costs little.
   */
  public int attemptsPerSecond() {
    return ATTEMPTS_PER_REPEAT * repeatsPerSecond;
  }
}
