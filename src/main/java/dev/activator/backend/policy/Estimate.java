package dev.activator.backend.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long something takes, from the times it took before: newer ones count more.
 *
 * <p>
 * <b>Source.</b> RFC 6298, section 2: the same gains as TCP's estimate of a round trip.
 *
 * @param mean smoothed
 * @param deviation smoothed, how far off the mean was
 */
public record Estimate(Duration mean, Duration deviation) {
  private static final int WIDTH = 4;

  /** What is estimated once one more is known; null stands for nothing known yet. */
  public static Estimate after(@Nullable Estimate before, Duration sample) {
    return before == null ? new Estimate(sample, sample.dividedBy(2)) : before.plus(sample);
  }

  private Estimate plus(Duration sample) {
    var miss = mean.minus(sample).abs();
    return new Estimate(mean.multipliedBy(7).plus(sample).dividedBy(8),
        deviation.multipliedBy(3).plus(miss).dividedBy(4));
  }

  /** It hardly ever takes less; zero or more. */
  public Duration earliest() {
    var early = mean.minus(deviation.multipliedBy(WIDTH));
    return early.isNegative() ? Duration.ZERO : early;
  }

  /** It hardly ever takes longer. */
  public Duration latest() {
    return mean.plus(deviation.multipliedBy(WIDTH));
  }
}
