package dev.activator.embedded.api.policy;

import java.time.Duration;

/**
 * Time that may be spent waiting for the slow. It grows with time and is capped, so that one who is
 * always slow cannot hold up the others for long.
 *
 * <p>
 * <b>Source.</b> {@code cacher/time_budget.go} in Kubernetes' apiserver.
 *
 * @param savedNanos what may be spent at {@code atNanos}
 * @param atNanos when that was counted
 */
public record TimeBudget(long savedNanos, long atNanos) {
  private static final long CAP_NANOS = Duration.ofMillis(100).toNanos();
  private static final long GROWS_BY_ONE_IN = 20;

  public static TimeBudget full(long nowNanos) {
    return new TimeBudget(CAP_NANOS, nowNanos);
  }

  /** With what has grown since. */
  public TimeBudget at(long nowNanos) {
    long grown = savedNanos + (nowNanos - atNanos) / GROWS_BY_ONE_IN;
    return new TimeBudget(Math.min(CAP_NANOS, grown), nowNanos);
  }

  /** Less what was spent, down to nothing. */
  public TimeBudget spent(long nanos) {
    return new TimeBudget(Math.max(0, savedNanos - nanos), atNanos);
  }
}
