package dev.activator.loop;

import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * Limits how often a line is logged: few times in ten seconds. Counts the lines that are left out.
 *
 * <p><b>Threads.</b> Any.
 */
public final class LogLimit {
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final int maxLines;
  private int left;
  private boolean logged;
  private long beganNanos;
  private long others;

  /** A limit of one line in ten seconds. */
  public LogLimit() {
    this(1);
  }

  public LogLimit(int maxLines) {
    this.maxLines = maxLines;
  }

  /** Whether a line would be logged now. */
  public synchronized boolean isDue(long nowNanos) {
    return !logged || left > 0 || nowNanos - beganNanos >= PAUSE_NANOS;
  }

  /** @param line gets the number of lines left out since the last one */
  public synchronized void log(long nowNanos, LongConsumer line) {
    if (!isDue(nowNanos)) {
      others++;
      return;
    }
    line.accept(others);
    if (!logged || nowNanos - beganNanos >= PAUSE_NANOS) {
      beganNanos = nowNanos;
      left = maxLines;
    }
    logged = true;
    left--;
    others = 0;
  }
}
