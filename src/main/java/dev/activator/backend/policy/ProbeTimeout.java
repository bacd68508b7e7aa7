package dev.activator.backend.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a probe may take, estimated from the round trips of the revision's probes.
 *
 * <p>
 * <b>Source.</b> RFC 6298, sections 2 and 5.5: doubled after each probe that timed out. Knative's is
 * always 300 ms, which here is the shortest unless {@code PROBE_TIMEOUT} is shorter.
 *
 * @param longest {@code PROBE_TIMEOUT}; positive
 * @param roundTrip from a probe to its answer; null before the first
 * @param missed probes in a row, of any pod, that were not answered in time
 */
public record ProbeTimeout(Duration longest, @Nullable Estimate roundTrip, int missed) {
  private static final Duration SHORTEST = Duration.ofMillis(300);
  private static final int MOST_DOUBLINGS = 16;

  public static ProbeTimeout of(Duration longest) {
    return new ProbeTimeout(longest, null, 0);
  }

  /** The timeout of the next probe. */
  public Duration next() {
    if (roundTrip == null) {
      return longest;
    }
    var adapted = roundTrip.latest().multipliedBy(1L << Math.min(missed, MOST_DOUBLINGS));
    var enough = adapted.compareTo(SHORTEST) > 0 ? adapted : SHORTEST;
    return enough.compareTo(longest) < 0 ? enough : longest;
  }

  /** An answer of any status came. */
  public ProbeTimeout answered(Duration took) {
    return new ProbeTimeout(longest, Estimate.after(roundTrip, took), 0);
  }

  /** None came in time. */
  public ProbeTimeout timedOut() {
    return new ProbeTimeout(longest, roundTrip, missed + 1);
  }
}
