package dev.activator.loop.policy;

/**
 * A token bucket: a rate that is kept after a burst.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Units.</b> Nanoseconds of a clock that may overflow.
 *
 * <p><b>Source.</b> Go's {@code rate.Limiter}, by which client-go limits requests: what would wait for longer than it may
 * takes nothing.
 */
public final class RateLimit {
  private static final long SECOND_NANOS = 1_000_000_000;
  /** Sums of some of these are no overflow. */
  private static final long MAX_NANOS = Long.MAX_VALUE / 8;

  private final long costNanos;
  private final long burstNanos;
  /** When it is full again; each use moves it forward. */
  private long fullNanos;

  /** The burst is a tenth of a second's worth. */
  public RateLimit(int perSecond, long nowNanos) {
    this(Math.max(1, SECOND_NANOS / perSecond), SECOND_NANOS / 10, nowNanos);
  }

  private RateLimit(long costNanos, long burstNanos, long nowNanos) {
    this.costNanos = costNanos;
    this.burstNanos = burstNanos;
    this.fullNanos = nowNanos;
  }

  public static RateLimit withBurst(double perSecond, int burst, long nowNanos) {
    long costNanos = Math.clamp(Math.round(SECOND_NANOS / perSecond), 1, MAX_NANOS);
    return new RateLimit(costNanos,
        burst > MAX_NANOS / costNanos ? MAX_NANOS : costNanos * burst, nowNanos);
  }

  /** Until it has room for this number; 0 if it has now. */
  public synchronized long untilNanos(long nowNanos, int count) {
    long burst = Math.max(count * costNanos, burstNanos);
    return Math.max(0, fullNanos + count * costNanos - burst - nowNanos);
  }

  /** Whether there is room or not. */
  public synchronized void take(long nowNanos) {
    fullNanos = (fullNanos - nowNanos > 0 ? fullNanos : nowNanos) + costNanos;
  }

  /** Returns how long to wait for what was taken; negative if that is longer than this, and nothing was taken. */
  public synchronized long takeWithin(long nowNanos, long maxWaitNanos) {
    long wait = untilNanos(nowNanos, 1);
    if (wait > maxWaitNanos) {
      return -1;
    }
    take(nowNanos);
    return wait;
  }

  public boolean tryTake(long nowNanos) {
    return takeWithin(nowNanos, 0) == 0;
  }

  public synchronized void giveBack() {
    fullNanos -= costNanos;
  }
}
