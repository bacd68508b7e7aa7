package dev.activator.throttle;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Gives new pods more from time to time, for as long as some are given fewer than they could take.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
final class RampClock {
  private static final Duration STEP = Duration.ofMillis(100);

  private final Loop loop;
  private final BooleanSupplier step;
  private boolean runs;

  /** @param step gives more, and says whether there is more to give */
  RampClock(Loop loop, BooleanSupplier step) {
    this.loop = loop;
    this.step = step;
  }

  /** There is something to give. */
  void start() {
    if (!runs) {
      runs = true;
      loop.schedule(STEP, this::tick);
    }
  }

  private void tick() {
    runs = false;
    if (step.getAsBoolean()) {
      start();
    }
  }
}
