package dev.activator.throttle;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Does something again and again, from when it is started for as long as there is a reason to.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
final class Ticks {
  private final Loop loop;
  private final Duration pause;
  private final BooleanSupplier step;
  private boolean run;

  /**
   * @param pause before each time, the first included
   * @param step does it, and says whether to go on
   */
  Ticks(Loop loop, Duration pause, BooleanSupplier step) {
    this.loop = loop;
    this.pause = pause;
    this.step = step;
  }

  /** There is a reason; nothing changes if there was one before. */
  void start() {
    if (!run) {
      run = true;
      loop.schedule(pause, this::tick);
    }
  }

  private void tick() {
    run = false;
    if (step.getAsBoolean()) {
      start();
    }
  }
}
