package dev.activator.loop;

import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * Lets one line into the log in ten seconds, and counts the others.
 *
 * <p><b>Threads.</b> Any.
 */
public final class LogLimit {
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private boolean logged;
  private long loggedNanos;
  private long others;

  /** Whether nothing was logged in the last ten seconds. */
  public synchronized boolean isDue(long nowNanos) {
    return !logged || nowNanos - loggedNanos >= PAUSE_NANOS;
  }

  /** @param line gets the number of lines left out since the last one */
  public synchronized void log(long nowNanos, LongConsumer line) {
    if (!isDue(nowNanos)) {
      others++;
      return;
    }
    line.accept(others);
    logged = true;
    loggedNanos = nowNanos;
    others = 0;
  }
}
