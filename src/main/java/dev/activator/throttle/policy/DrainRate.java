package dev.activator.throttle.policy;

/**
 * How fast a queue drains, measured over a second at a time.
 *
 * <p>
 * <b>Units.</b> {@code sinceNanos} by the loop's clock.
 *
 * @param sinceNanos when the measurement under way began
 * @param granted requests that left the queue to run since then
 * @param perSecond the result of the last whole measurement; 0 if there was none
 */
public record DrainRate(long sinceNanos, int granted, double perSecond) {
  public static final DrainRate UNKNOWN = new DrainRate(0, 0, 0);
  private static final double NANOS_A_SECOND = 1e9;

  /** The queue was empty and is not any more; the time before does not count. */
  public DrainRate restarted(long nowNanos) {
    return new DrainRate(nowNanos, 0, perSecond);
  }

  /** This many more have left the queue to run. */
  public DrainRate afterGrants(int more, long nowNanos) {
    int all = granted + more;
    return nowNanos - sinceNanos < NANOS_A_SECOND
        ? new DrainRate(sinceNanos, all, perSecond)
        : new DrainRate(nowNanos, 0, rate(all, nowNanos));
  }

  /**
   * Requests that leave the queue per second; never 0. One more is assumed to leave now, so that the
   * rate falls while none does.
   */
  public double at(long nowNanos) {
    boolean current = perSecond > 0 && nowNanos - sinceNanos < NANOS_A_SECOND;
    return current ? perSecond : rate(granted + 1, nowNanos);
  }

  private double rate(int moved, long nowNanos) {
    return moved * NANOS_A_SECOND / Math.max(1, nowNanos - sinceNanos);
  }
}
