package dev.activator.loop;

import java.time.Duration;

/**
 * Measures how long a task waits for its turn on a loop. Another loop queues the tasks, since the
 * measured one would queue them late.
 */
public final class LoopDelay {
  private final Loop measured;
  private final Loop clock;
  private final Duration period;
  private final ResettableTimer timer;
  private volatile long lastNanos;
  private volatile long givenNanos;
  private volatile boolean waiting;

  public LoopDelay(Loop measured, Loop clock, Duration period) {
    this.measured = measured;
    this.clock = clock;
    this.period = period;
    this.timer = new ResettableTimer(clock, this::give);
  }

  public void start() {
    clock.execute(this::give);
  }

  public void stop() {
    clock.execute(timer::cancel);
  }

  private void give() {
    timer.within(period);
    if (!waiting) {
      givenNanos = clock.nanoTime();
      waiting = true;
      measured.execute(() -> {
        lastNanos = clock.nanoTime() - givenNanos;
        waiting = false;
      });
    }
  }

  /** How long the last task waited, or the present one so far if longer. */
  public long nanos() {
    return waiting ? Math.max(lastNanos, clock.nanoTime() - givenNanos) : lastNanos;
  }
}
