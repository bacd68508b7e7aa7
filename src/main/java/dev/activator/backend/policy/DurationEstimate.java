package dev.activator.backend.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An estimate of a duration from samples: the smoothed mean and the mean deviation.
 *
 * <p><b>Source.</b> RFC 6298, section 2, with the gains of TCP's round-trip estimate.
 */
public record DurationEstimate(Duration mean, Duration deviation) {
  private static final int WIDTH = 4;

  public static DurationEstimate after(@Nullable DurationEstimate before, Duration sample) {
    return before == null ? new DurationEstimate(sample, sample.dividedBy(2)) : before.plus(sample);
  }

  private DurationEstimate plus(Duration sample) {
    var miss = mean.minus(sample).abs();
    return new DurationEstimate(mean.multipliedBy(7).plus(sample).dividedBy(8),
        deviation.multipliedBy(3).plus(miss).dividedBy(4));
  }

  /** A duration that samples are rarely shorter than. */
  public Duration earliest() {
    var early = mean.minus(deviation.multipliedBy(WIDTH));
    return early.isNegative() ? Duration.ZERO : early;
  }

  /** A duration that samples are rarely longer than. */
  public Duration latest() {
    return mean.plus(deviation.multipliedBy(WIDTH));
  }
}
