package dev.activator.lending;

/**
 * The time until which permits of one lender may be used here. A lease that is over stays over.
 *
 * <p><b>Threads.</b> Any checks; one thread at a time extends.
 */
public final class LoanLease {
  private volatile long untilNanos;

  public LoanLease(long untilNanos) {
    this.untilNanos = untilNanos;
  }

  public boolean isOver(long nowNanos) {
    return untilNanos - nowNanos <= 0;
  }

  /** Extends the lease; false if it is over already. */
  boolean extend(long nowNanos, long until) {
    if (isOver(nowNanos)) {
      return false;
    }
    if (until - untilNanos > 0) {
      untilNanos = until;
    }
    return true;
  }
}
