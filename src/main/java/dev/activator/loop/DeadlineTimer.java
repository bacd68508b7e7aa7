package dev.activator.loop;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A timer that can be set again and again. A task that repeats sets it again each time; a check of
 * deadlines leaves it running where a deadline moves on, since a check that comes too early only
 * costs a look.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 *
 * <p>
 * <b>Errors.</b> A task that throws runs again a second later, unless it has set or cancelled the
 * timer itself: one bug must not end what repeats for good. The loop logs the error.
 */
public final class DeadlineTimer {
  private static final Duration AFTER_ERROR = Duration.ofSeconds(1);

  private final Loop loop;
  private final Runnable task;
  private Loop.@Nullable Timer timer;
  private long dueNanos;
  private boolean cancelled;

  /**
   * One that is not set.
   *
   * @param task run when it is due; it may set the timer again
   */
  public DeadlineTimer(Loop loop, Runnable task) {
    this.loop = loop;
    this.task = task;
  }

  /** Runs the task after this time, or earlier if the timer is set for earlier already. */
  public void within(Duration delay) {
    within(delay.toNanos());
  }

  /** As {@link #within(Duration)}. */
  public void within(long nanos) {
    long due = loop.nanoTime() + nanos;
    if (timer != null && dueNanos - due <= 0) {
      return;
    }
    cancel();
    dueNanos = due;
    timer = loop.schedule(Duration.ofNanos(nanos), this::due);
  }

  /** Whether the task will run. */
  public boolean isSet() {
    return timer != null;
  }

  /** Keeps the task from running until the timer is set again. */
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
