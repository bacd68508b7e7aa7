package dev.activator.embedded.api.cache;

import java.util.concurrent.TimeUnit;

/**
 * Whether a cache has a state to serve.
 *
 * <p>
 * <b>Source.</b> {@code cacher/ready.go} and {@code calculateRetryAfterForUnreadyCache} in
 * {@code cacher/delegator.go} of Kubernetes' apiserver.
 *
 * @param ready whether it has
 * @param generation how many states it began with so far: what was asked of one is not answered
 *        from the next
 * @param sinceNanos when it became so, on its loop's clock
 */
record Readiness(boolean ready, int generation, long sinceNanos) {
  private static final double GROWTH_PER_SECOND = 0.06;
  private static final int LONGEST_SECONDS = 30;

  static Readiness never(long nowNanos) {
    return new Readiness(false, 0, nowNanos);
  }

  /** With a new state. */
  Readiness up(long nowNanos) {
    return new Readiness(true, generation + 1, nowNanos);
  }

  /** Without one; if it had none before, it is without since then. */
  Readiness down(long nowNanos) {
    return ready ? new Readiness(false, generation, nowNanos) : this;
  }

  /** When to ask again: later, the longer it has been down. */
  int retryAfterSeconds(long nowNanos) {
    double downSeconds = (nowNanos - sinceNanos) / (double) TimeUnit.SECONDS.toNanos(1);
    return (int) Math.clamp(Math.exp(GROWTH_PER_SECOND * downSeconds), 1, LONGEST_SECONDS);
  }
}
