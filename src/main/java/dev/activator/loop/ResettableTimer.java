package dev.activator.loop;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A timer on a loop that can be set repeatedly. If it is set several times, the earliest time
 * counts.
 *
 * <p><b>Threads.</b> Confined to the loop.
 *
 * <p><b>Errors.</b> If the task throws, it runs again a second later, unless it has set or
 * cancelled the timer itself. So a bug does not end a repeating task.
 */
public final class ResettableTimer {
  private static final Duration AFTER_ERROR = Duration.ofSeconds(1);

  private final Loop loop;
  private final Runnable task;
  private Loop.@Nullable Timer timer;
  private long dueNanos;
  private boolean cancelled;

  /** @param task may set the timer again */
  public ResettableTimer(Loop loop, Runnable task) {
    this.loop = loop;
    this.task = task;
  }

  /** Sets the timer, unless it is already set for an earlier time. */
  public void within(Duration delay) {
    within(TimeUnit.NANOSECONDS.convert(delay));
  }

  public void within(long nanos) {
    at(loop.nanoTime() + nanos);
  }

  /**
   * @param due by the loop's clock, which is only read if the timer is not already set for an
   *     earlier time
   */
  public void at(long due) {
    if (timer != null && dueNanos - due <= 0) {
      return;
    }
    cancel();
    dueNanos = due;
    timer = loop.schedule(Duration.ofNanos(Math.max(0, due - loop.nanoTime())), this::due);
  }

  public boolean isSet() {
    return timer != null;
  }

  public void cancel() {
    cancelled = true;
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  private void due() {
    timer = null;
    cancelled = false;
    boolean done = false;
    try {
      task.run();
      done = true;
    } finally {
      if (!done && timer == null && !cancelled) {
        within(AFTER_ERROR);
      }
    }
  }
}
