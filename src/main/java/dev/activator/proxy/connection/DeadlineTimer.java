package dev.activator.proxy.connection;

import dev.activator.loop.Loop;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One timer for all deadlines of a connection, one after another. A request that ends in time leaves
 * it running: the next one nearly always finds it set early enough, and sets none of its own.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
final class DeadlineTimer {
  private final Loop loop;
  private final Runnable check;
  private Loop.@Nullable Timer timer;
  private long dueNanos;

  /**
   * Makes it, not set.
   *
   * @param check run when it is due; sets it again if there is something to wait for
   */
  DeadlineTimer(Loop loop, Runnable check) {
    this.loop = loop;
    this.check = check;
  }

  /** Runs the check after this time, or before. */
  void within(long nanos) {
    long due = loop.nanoTime() + nanos;
    if (timer != null && dueNanos - due <= 0) {
      return;
    }
    cancel();
    dueNanos = due;
    timer = loop.schedule(Duration.ofNanos(nanos), this::due);
  }

  void cancel() {
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
