package dev.activator.cluster.policy;

import java.time.Duration;

/**
 * Says how long the next request must wait so that a rate is kept after a burst. Not
 * thread-safe.
 *
 * <p><b>Source.</b> Go's {@code rate.Limiter}, by which client-go limits requests: what would wait for
 * longer than it may takes no token.
 */
public final class TokenBucket {
  private static final double NANOS_PER_SECOND = 1e9;

  private final double perSecond;
  private final int burst;
  /** Negative while requests wait. */
  private double tokens;
  private long filled;

  public TokenBucket(double perSecond, int burst, long now) {
    this.perSecond = perSecond;
    this.burst = burst;
    this.tokens = burst;
    this.filled = now;
  }

  /**
   * Takes a token.
   *
   * @return how long to wait for it; negative if that is longer than {@code max}, and none is taken
   */
  public Duration take(long now, Duration max) {
    double grown = Math.max(0, now - filled) / NANOS_PER_SECOND * perSecond;
    tokens = Math.min(burst, tokens + grown);
    filled = now;
    double seconds = tokens >= 1 ? 0 : (1 - tokens) / perSecond;
    if (seconds * NANOS_PER_SECOND > max.toNanos()) {
      return Duration.ofNanos(-1);
    }
    tokens--;
    return Duration.ofNanos((long) Math.ceil(seconds * NANOS_PER_SECOND));
  }
}
