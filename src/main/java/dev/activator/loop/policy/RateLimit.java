package dev.activator.loop.policy;

/**
 * A token bucket. It allows a burst, and after that a constant rate.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Units.</b> Nanoseconds of a clock that may overflow.
 *
 * <p><b>Source.</b> Go's {@code rate.Limiter}, by which client-go limits its requests. A request
 * that would wait for too long takes no token.
 */
public final class RateLimit {
  private static final long SECOND_NANOS = 1_000_000_000;
  /** So small that sums of a few such values do not overflow. */
  private static final long MAX_NANOS = Long.MAX_VALUE / 8;

  private final long costNanos;
  private final long burstNanos;
  /** The time at which the bucket is full again. Each token that is taken moves it forward. */
  private long fullNanos;

  /** A limit whose burst is the rate of a tenth of a second. */
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

  /** The time until a token is available; 0 if one is available now. */
  public synchronized long untilNanos(long nowNanos) {
    return Math.max(0, fullNanos + costNanos - Math.max(costNanos, burstNanos) - nowNanos);
  }

  /** Takes a token, even if none is available. */
  public synchronized void take(long nowNanos) {
    fullNanos = (fullNanos - nowNanos > 0 ? fullNanos : nowNanos) + costNanos;
  }

  /**
   * Takes a token, and returns how long to wait for it. If that were longer than
   * {@code maxWaitNanos}, takes none and returns a negative number.
   */
  public synchronized long takeWithin(long nowNanos, long maxWaitNanos) {
    long wait = untilNanos(nowNanos);
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
