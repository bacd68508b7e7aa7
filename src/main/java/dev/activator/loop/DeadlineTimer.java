package dev.activator.loop;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One timer for many deadlines. What ends in time leaves it running: whatever comes next nearly always
 * finds it set early enough, and schedules nothing.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
public final class DeadlineTimer {
  private final Loop loop;
  private final Runnable check;
  private Loop.@Nullable Timer timer;
  private long dueNanos;

  /** @param check looks at all deadlines, and sets the timer again if there is a next one */
  public DeadlineTimer(Loop loop, Runnable check) {
    this.loop = loop;
    this.check = check;
  }

  /** Runs the check after this time, or before. */
  public void within(long nanos) {
    long due = loop.nanoTime() + nanos;
    if (timer != null && dueNanos - due <= 0) {
      return;
    }
    cancel();
    dueNanos = due;
    timer = loop.schedule(Duration.ofNanos(nanos), this::due);
  }

  public void cancel() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  private void due() {
    timer = null;
    check.run();
  }
}
