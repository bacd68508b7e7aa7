package dev.activator.testing.faults;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * When faults happen: by the time of this loop, with pauses drawn from these numbers.
 *
 * @param random may be asked by any thread
 */
public record FaultClock(Loop loop, RandomGenerator random) {
  /** How long to wait this time. */
  public Duration draw(Pause pause) {
    return pause.next(random);
  }
}
