package dev.activator.throttle.policy;

/**
 * The rate at which a queue drains, measured second by second.
 *
 * @param sinceNanos start of the measurement, by the loop's clock
 * @param granted the number of grants since then
 * @param perSecond the last complete measurement; 0 without one
 */
public record QueueDrainRate(long sinceNanos, int granted, double perSecond) {
  public static final QueueDrainRate UNKNOWN = new QueueDrainRate(0, 0, 0);
  private static final double NANOS_A_SECOND = 1e9;

  /** Begins a new measurement, because the queue was empty and that time must not count. */
  public QueueDrainRate restarted(long nowNanos) {
    return new QueueDrainRate(nowNanos, 0, perSecond);
  }

  public QueueDrainRate afterGrants(int more, long nowNanos) {
    int all = granted + more;
    return nowNanos - sinceNanos < NANOS_A_SECOND
        ? new QueueDrainRate(sinceNanos, all, perSecond)
        : new QueueDrainRate(nowNanos, 0, rate(all, nowNanos));
  }

  /**
   * The rate now, never 0. Assumes that one more request leaves now, so that the rate falls while
   * none leaves.
   */
  public double at(long nowNanos) {
    boolean current = perSecond > 0 && nowNanos - sinceNanos < NANOS_A_SECOND;
    return current ? perSecond : rate(granted + 1, nowNanos);
  }

  private double rate(int moved, long nowNanos) {
    return moved * NANOS_A_SECOND / Math.max(1, nowNanos - sinceNanos);
  }
}
