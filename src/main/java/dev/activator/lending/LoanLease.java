package dev.activator.lending;

/**
 * The time until which a borrower may use the permits of one lender. An expired lease cannot be
 * extended.
 *
 * <p><b>Threads.</b> Any may check; one at a time may extend.
 */
public final class LoanLease {
  private volatile long untilNanos;

  public LoanLease(long untilNanos) {
    this.untilNanos = untilNanos;
  }

  public boolean isOver(long nowNanos) {
    return untilNanos - nowNanos <= 0;
  }

  /** Extends the lease. False if it has already expired. */
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
