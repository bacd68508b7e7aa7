package dev.activator.loop;

import java.time.Duration;

/**
 * Measures how long a task waits for its turn on a loop. Another loop submits the tasks, because
 * the measured loop would submit them late.
 */
public final class LoopDelay {
  private final Loop measured;
  private final Loop clock;
  private final Duration period;
  private final ResettableTimer timer;
  private volatile long lastNanos;
  private volatile long submittedNanos;
  private volatile boolean waiting;

  public LoopDelay(Loop measured, Loop clock, Duration period) {
    this.measured = measured;
    this.clock = clock;
    this.period = period;
    this.timer = new ResettableTimer(clock, this::submit);
  }

  public void start() {
    clock.execute(this::submit);
  }

  public void stop() {
    clock.execute(timer::cancel);
  }

  private void submit() {
    timer.within(period);
    if (!waiting) {
      submittedNanos = clock.nanoTime();
      waiting = true;
      measured.execute(() -> {
        lastNanos = clock.nanoTime() - submittedNanos;
        waiting = false;
      });
    }
  }

  /** How long the last task waited, or the current one has waited so far, whichever is longer. */
  public long nanos() {
    return waiting ? Math.max(lastNanos, clock.nanoTime() - submittedNanos) : lastNanos;
  }
}
