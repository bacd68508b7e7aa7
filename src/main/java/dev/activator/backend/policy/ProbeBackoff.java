package dev.activator.backend.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The pause from the start of a failed probe to the next probe of the same address.
 *
 * <p>
 * While the revision's start time is unknown, the pause is a small fraction of the time waited, so
 * the delay is small compared to the start. Once known, a pod is probed rarely before its expected
 * start and often around it.
 *
 * <p>
 * <b>Source.</b> Knative probes forever every {@code PROBE_FREQUENCY}, 200 ms.
 *
 * @param frequency the longest pause of an address that may be starting
 */
public record ProbeBackoff(Duration frequency) {
  /** After this an address is unlikely to be starting. */
  static final Duration LONG = Duration.ofSeconds(30);

  /** From a failure to the next probe, however long the probe took. */
  private static final Duration SHORTEST = Duration.ofMillis(10);
  private static final Duration LONGEST = Duration.ofSeconds(1);
  private static final Duration LONGEST_VIA_CLUSTER_IP = Duration.ofSeconds(30);
  private static final int PART_OF_AGE = 32;
  private static final int PART_OF_LONG_AGE = 150;
  private static final int PART_OF_DEVIATION = 10;

  /** @param age since the address last changed */
  public Duration after(Duration age, @Nullable Estimate start) {
    if (start == null || age.compareTo(start.latest()) > 0) {
      return unexpected(age);
    }
    var early = start.earliest().minus(age);
    return early.isPositive()
        ? shorter(longer(early, SHORTEST), frequency)
        : shorter(longer(start.deviation().dividedBy(PART_OF_DEVIATION), SHORTEST),
            unexpected(age));
  }

  private Duration unexpected(Duration age) {
    var start = shorter(longer(age.dividedBy(PART_OF_AGE), SHORTEST), frequency);
    return age.compareTo(LONG) < 0
        ? start
        : longer(start, shorter(age.dividedBy(PART_OF_LONG_AGE), LONGEST));
  }

  /** The ClusterIP serves, and pods are probed only to return to them. */
  public Duration viaClusterIp(Duration age) {
    return longer(frequency, shorter(age.dividedBy(2), LONGEST_VIA_CLUSTER_IP));
  }

  /** The pause without the time the probe took. */
  Duration rest(Duration pause, Duration took) {
    return longer(pause.minus(took), shorter(SHORTEST, pause));
  }

  private static Duration longer(Duration a, Duration b) {
    return a.compareTo(b) > 0 ? a : b;
  }

  private static Duration shorter(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }
}
