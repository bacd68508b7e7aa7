package dev.activator.backend.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The timeout of the next probe. It is estimated from the revision's probes, and doubled after each
 * timeout.
 *
 * <p><b>Source.</b> RFC 6298, sections 2 and 5.5. Knative always uses 300 ms, which is the minimum
 * here unless {@code PROBE_TIMEOUT} is shorter.
 *
 * @param longest {@code PROBE_TIMEOUT}; for a container without queue-proxy the
 *     {@code timeoutSeconds} of its readinessProbe
 * @param missed the number of consecutive timeouts, of any pods
 */
public record ProbeTimeout(Duration longest, @Nullable DurationEstimate roundTrip, int missed) {
  private static final Duration MIN_TIMEOUT = Duration.ofMillis(300);
  private static final int MAX_DOUBLINGS = 16;

  public static ProbeTimeout of(Duration longest) {
    return new ProbeTimeout(longest, null, 0);
  }

  public Duration next() {
    if (roundTrip == null) {
      return longest;
    }
    var adapted = roundTrip.latest().multipliedBy(1L << Math.min(missed, MAX_DOUBLINGS));
    var enough = adapted.compareTo(MIN_TIMEOUT) > 0 ? adapted : MIN_TIMEOUT;
    return enough.compareTo(longest) < 0 ? enough : longest;
  }

  public ProbeTimeout answered(Duration took) {
    return new ProbeTimeout(longest, DurationEstimate.after(roundTrip, took), 0);
  }

  public ProbeTimeout timedOut() {
    return new ProbeTimeout(longest, roundTrip, missed + 1);
  }
}
