package dev.activator.backend.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The pause from the start of a failed probe to the next probe of the same address.
 *
 * <p>While it is unknown how long a start takes, the pause is a small fraction of the time since
 * the start, so that it delays the start only a little. Once the duration is known, a pod is probed
 * rarely before the expected end of its start, and often around that time. A pod that refuses
 * connections, or answers the probe of a port, while requests wait is probed more often, because
 * that takes little time and work.
 *
 * <p><b>Source.</b> Knative probes forever every {@code PROBE_FREQUENCY}, 200 ms.
 *
 * @param frequency the maximum pause for an address that may be starting
 */
public record ProbeBackoff(Duration frequency) {
  /** An address that has not answered for this long is probably not starting. */
  static final Duration LONG = Duration.ofSeconds(30);

  /** The minimum time from a failure to the next probe, however long the failed probe took. */
  private static final Duration MIN_PAUSE = Duration.ofMillis(10);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(1);
  private static final Duration MAX_PAUSE_VIA_CLUSTER_IP = Duration.ofSeconds(30);
  private static final Duration UNNEEDED = Duration.ofMinutes(1);
  private static final Duration MIN_PAUSE_UNNEEDED = Duration.ofSeconds(15);
  private static final Duration MAX_PAUSE_UNNEEDED = Duration.ofSeconds(30);
  /**
   * The maximum time of repeated attempts. After that the watcher decides again, with all that it
   * knows of the pod and its requests.
   */
  private static final Duration MAX_REPEATS = Duration.ofMillis(500);
  private static final int PART_OF_LONG_AGE = 150;
  private static final int PART_OF_DEVIATION = 10;

  /** The frequency of probes while the end of a start cannot be estimated. */
  private record Pace(Duration minPause, int partOfAge) {
    static final Pace DEFAULT = new Pace(MIN_PAUSE, 32);
    static final Pace REFUSED = new Pace(Duration.ofMillis(1), 128);
  }

  /** @param age since the address last changed */
  public Duration after(Duration age, @Nullable DurationEstimate start) {
    return after(age, start, Pace.DEFAULT);
  }

  /** The pause after a probe that took little time and work, while a request waits. */
  public Duration afterRefusal(Duration age, @Nullable DurationEstimate start) {
    return after(age, start, Pace.REFUSED);
  }

  /**
   * For how long attempts to connect may be repeated with the pause {@link #afterRefusal}; zero for
   * one attempt.
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

  /**
   * The pause while the ClusterIP serves. Pods are then probed only to find out whether they can be
   * addressed again.
   */
  public Duration viaClusterIp(Duration age) {
    return longer(frequency, shorter(age.dividedBy(2), MAX_PAUSE_VIA_CLUSTER_IP));
  }

  /** @param unneeded the time since the address last changed or a request last waited */
  static boolean isUnneeded(Duration unneeded) {
    return unneeded.compareTo(UNNEEDED) >= 0;
  }

  /** The pause while no request has waited for long, so that an answer is not urgent. */
  public Duration unneeded(Duration unneeded) {
    return longer(frequency,
        longer(MIN_PAUSE_UNNEEDED, shorter(unneeded.dividedBy(4), MAX_PAUSE_UNNEEDED)));
  }

  /** The rest of the pause after the time that the probe took. */
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
