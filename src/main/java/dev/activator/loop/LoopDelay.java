package dev.activator.loop;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Measures how long tasks wait for their turn on a loop, by giving it one now and then.
 *
 * <p>
 * <b>Threads.</b> Any may call. The tasks are given by another loop, which is late itself if it is
 * the same one.
 */
public final class LoopDelay {
  private final Loop measured;
  private final Loop clock;
  private final Duration period;
  private volatile long lastNanos;
  private volatile long givenNanos;
  private volatile boolean waiting;
  private volatile boolean stopped;
  private Loop.@Nullable Timer next;

  /** @param period between two tasks */
  public LoopDelay(Loop measured, Loop clock, Duration period) {
    this.measured = measured;
    this.clock = clock;
    this.period = period;
  }

  public void start() {
    clock.execute(this::give);
  }

  /** No more tasks are given. */
  public void stop() {
    stopped = true;
    clock.execute(() -> {
      if (next != null) {
        next.cancel();
      }
    });
  }

  private void give() {
    if (stopped) {
      return;
    }
    next = clock.schedule(period, this::give);
    if (!waiting) {
      givenNanos = clock.nanoTime();
      waiting = true;
      measured.execute(() -> {
        lastNanos = clock.nanoTime() - givenNanos;
        waiting = false;
      });
    }
  }

  /** How long the last task waited, or the present one waits by now, if that is longer. */
  public long nanos() {
    return waiting ? Math.max(lastNanos, clock.nanoTime() - givenNanos) : lastNanos;
  }
}
