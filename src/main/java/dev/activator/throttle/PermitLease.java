package dev.activator.throttle;

/**
 * The time until which borrowed permits may be used. An expired lease cannot be extended.
 *
 * <p><b>Threads.</b> Any may check; one at a time may extend.
 */
public final class PermitLease {
  private volatile long untilNanos;

  /** @param untilNanos by the clock of the loops */
  public PermitLease(long untilNanos) {
    this.untilNanos = untilNanos;
  }

  public boolean isOver(long nowNanos) {
    return untilNanos - nowNanos <= 0;
  }

  /** Extends the lease. False if it has already expired. */
  public boolean extend(long nowNanos, long until) {
    if (isOver(nowNanos)) {
      return false;
    }
    if (until - untilNanos > 0) {
      untilNanos = until;
    }
    return true;
  }
}
