package dev.activator.backend.policy;

import java.time.Duration;

/**
 * How many things may still be done, where so many a second are allowed: one that is not used is
 * kept for later, up to a tenth of a second's worth.
 *
 * <p>
 * <b>Units.</b> Times are nanoseconds since some origin.
 *
 * @param perSecond allowed; positive
 * @param fullNanos when the bucket is, or was, full again; each thing done moves it on
 */
public record TokenBucket(int perSecond, long fullNanos) {
  private static final long SECOND_NANOS = 1_000_000_000;
  private static final int BURSTS_PER_SECOND = 10;

  public TokenBucket {
    if (perSecond < 1) {
      throw new IllegalArgumentException("nothing is allowed at " + perSecond + " a second");
    }
  }

  /** How long until one may be done; zero if it may at once. */
  public Duration untilNext(long nowNanos) {
    long burst = Math.max(cost(), SECOND_NANOS / BURSTS_PER_SECOND);
    return Duration.ofNanos(Math.max(0, fullNanos + cost() - burst - nowNanos));
  }

  /** One is done. */
  public TokenBucket less(long nowNanos) {
    long from = fullNanos - nowNanos > 0 ? fullNanos : nowNanos;
    return new TokenBucket(perSecond, from + cost());
  }

  /** One that was taken is not needed. */
  public TokenBucket more() {
    return new TokenBucket(perSecond, fullNanos - cost());
  }

  private long cost() {
    return SECOND_NANOS / perSecond;
  }
}
