package dev.activator.testing.faults;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * A wait, always the same or drawn anew each time.
 *
 * @param shortest it lasts
 * @param longest it lasts
 */
public record Pause(Duration shortest, Duration longest) {
  public Pause {
    if (shortest.isNegative() || shortest.compareTo(longest) > 0) {
      throw new IllegalArgumentException("a pause from " + shortest + " to " + longest);
    }
  }

  /** Always as long. */
  public static Pause of(Duration length) {
    return new Pause(length, length);
  }

  Duration next(RandomGenerator random) {
    long spread = longest.minus(shortest).toNanos();
    return spread == 0 ? shortest : shortest.plusNanos(random.nextLong(spread + 1));
  }
}
