package dev.activator.loop.policy;

/**
 * A token bucket, which holds a tenth of a second's worth.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Units.</b> Nanoseconds of a clock that may overflow.
 */
public final class RateLimit {
  private static final long SECOND_NANOS = 1_000_000_000;
  private static final long BURST_NANOS = SECOND_NANOS / 10;

  private final long costNanos;
  /** When it is full again; each use moves it forward. */
  private long fullNanos;

  public RateLimit(int perSecond, long nowNanos) {
    this.costNanos = Math.max(1, SECOND_NANOS / perSecond);
    this.fullNanos = nowNanos;
  }

  /** Until it has room for this number; 0 if it has now. */
  public synchronized long untilNanos(long nowNanos, int count) {
    long burst = Math.max(count * costNanos, BURST_NANOS);
    return Math.max(0, fullNanos + count * costNanos - burst - nowNanos);
  }

  /** Whether there is room or not. */
  public synchronized void take(long nowNanos) {
    fullNanos = (fullNanos - nowNanos > 0 ? fullNanos : nowNanos) + costNanos;
  }

  public synchronized boolean tryTake(long nowNanos) {
    if (untilNanos(nowNanos, 1) > 0) {
      return false;
    }
    take(nowNanos);
    return true;
  }

  public synchronized void giveBack() {
    fullNanos -= costNanos;
  }
}
