package dev.activator.backend.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The pause from the start of a failed probe to the next probe of the same address.
 *
 * <p>While the duration of a start is unknown, the pause is a small fraction of the time waited, so
 * the delay is small compared to the start. Once it is known, a pod is probed rarely before the
 * expected end of its start, and often around it. A pod that refuses connections while requests
 * wait is probed more often, because a refusal takes little time and work.
 *
 * <p><b>Source.</b> Knative probes forever every {@code PROBE_FREQUENCY}, 200 ms.
 *
 * @param frequency the longest pause of an address that may be starting
 */
public record ProbeBackoff(Duration frequency) {
  /** After this an address is unlikely to be starting. */
  static final Duration LONG = Duration.ofSeconds(30);

  /** The minimum time from a failure to the next probe, however long the probe took. */
  private static final Duration MIN_PAUSE = Duration.ofMillis(10);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(1);
  private static final Duration MAX_PAUSE_VIA_CLUSTER_IP = Duration.ofSeconds(30);
  private static final Duration UNNEEDED = Duration.ofMinutes(1);
  private static final Duration MIN_PAUSE_UNNEEDED = Duration.ofSeconds(15);
  private static final Duration MAX_PAUSE_UNNEEDED = Duration.ofSeconds(30);
  /** After this time, what else is known of the pod and its requests is considered again. */
  private static final Duration MAX_REPEATS = Duration.ofMillis(500);
  private static final int PART_OF_LONG_AGE = 150;
  private static final int PART_OF_DEVIATION = 10;

  /** How often an address is probed while the end of its start cannot be estimated. */
  private record Pace(Duration minPause, int partOfAge) {
    static final Pace DEFAULT = new Pace(MIN_PAUSE, 32);
    static final Pace REFUSED = new Pace(Duration.ofMillis(5), 128);
  }

  /** @param age since the address last changed */
  public Duration after(Duration age, @Nullable DurationEstimate start) {
    return after(age, start, Pace.DEFAULT);
  }

  /** The pause after the host refused the connection, while a request waits. */
  public Duration afterRefusal(Duration age, @Nullable DurationEstimate start) {
    return after(age, start, Pace.REFUSED);
  }

  /**
   * How long attempts to connect may be repeated with that pause; zero for one attempt.
   *
   * @param age as for {@link #afterRefusal}
   */
  public Duration repeatsAfterRefusal(Duration age, @Nullable DurationEstimate start) {
    if (start == null || age.compareTo(start.latest()) > 0) {
      return MAX_REPEATS;
    }
    return age.compareTo(start.earliest()) < 0
        ? Duration.ZERO
        : shorter(start.latest().minus(age), MAX_REPEATS);
  }

  private Duration after(Duration age, @Nullable DurationEstimate start, Pace pace) {
    if (start == null || age.compareTo(start.latest()) > 0) {
      return unexpected(age, pace);
    }
    var early = start.earliest().minus(age);
    return early.isPositive()
        ? shorter(longer(early, pace.minPause()), frequency)
        : shorter(longer(start.deviation().dividedBy(PART_OF_DEVIATION), pace.minPause()),
            unexpected(age, pace));
  }

  private Duration unexpected(Duration age, Pace pace) {
    var start = shorter(longer(age.dividedBy(pace.partOfAge()), pace.minPause()), frequency);
    return age.compareTo(LONG) < 0
        ? start
        : longer(start, shorter(age.dividedBy(PART_OF_LONG_AGE), MAX_PAUSE));
  }

  /** The pause while the ClusterIP serves, and pods are probed only to return to them. */
  public Duration viaClusterIp(Duration age) {
    return longer(frequency, shorter(age.dividedBy(2), MAX_PAUSE_VIA_CLUSTER_IP));
  }

  /** @param unneeded since the address last changed and no request waited */
  static boolean isUnneeded(Duration unneeded) {
    return unneeded.compareTo(UNNEEDED) >= 0;
  }

  /** The pause while no request waits, so that an answer is not urgent. */
  public Duration unneeded(Duration unneeded) {
    return longer(frequency,
        longer(MIN_PAUSE_UNNEEDED, shorter(unneeded.dividedBy(4), MAX_PAUSE_UNNEEDED)));
  }

  /** The pause without the time the probe took. */
  Duration rest(Duration pause, Duration took) {
    return longer(pause.minus(took), shorter(MIN_PAUSE, pause));
  }

  private static Duration longer(Duration a, Duration b) {
    return a.compareTo(b) > 0 ? a : b;
  }

  private static Duration shorter(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }
}
