package dev.activator.ext.lending;

import dev.activator.throttle.PermitLease;
import org.jspecify.annotations.Nullable;

/**
 * The permits of one pod that one activator has lent to another. Lender and borrower each have such
 * an object with their own counts.
 */
final class Loan {
  final long account;
  /**
   * The borrower's lease; null at the lender. It is replaced after the lender was silent for too
   * long.
   */
  private @Nullable PermitLease lease;
  /** The number of permits that the borrower used when the account was opened. */
  private final int yielded;
  private long granted;
  private long returned;
  private long recalled;
  /**
   * The highest total that was ever recalled. Needed because the cancellation of a recall may come
   * too late.
   */
  private long everRecalled;
  private boolean refused;
  private long refusedUntilNanos;

  /** Creates the loan at the lender. */
  Loan(long account, int yielded) {
    this(account, yielded, null);
  }

  /** Creates the loan at the borrower. */
  Loan(long account, int yielded, @Nullable PermitLease lease) {
    this.account = account;
    this.yielded = yielded;
    this.lease = lease;
  }

  @Nullable PermitLease lease() {
    return lease;
  }

  void renew(PermitLease now) {
    lease = now;
  }

  int outstanding() {
    return (int) (yielded + granted - returned);
  }

  long granted() {
    return granted;
  }

  long returned() {
    return returned;
  }

  long recalled() {
    return recalled;
  }

  /** The number of outstanding permits that are recalled. */
  int toReturn() {
    return Math.clamp(recalled - returned, 0, outstanding());
  }

  /** Whether the last permits were returned without a recall. */
  boolean isUnrequested() {
    return returned > everRecalled;
  }

  /**
   * Offers the borrower no permit of the pod until then, because it returned one although its
   * requests wait.
   */
  void refuse(long untilNanos) {
    refused = true;
    refusedUntilNanos = untilNanos;
  }

  boolean isRefused(long nowNanos) {
    return refused && refusedUntilNanos - nowNanos > 0;
  }

  /** How many are new. */
  int grantedNow(long total) {
    int more = (int) Math.max(0, total - granted);
    granted += more;
    return more;
  }

  /** How many are new. */
  int returnedNow(long total) {
    int more = Math.clamp(total - returned, 0, outstanding());
    returned += more;
    return more;
  }

  void recalledNow(long total) {
    recalled = total;
    everRecalled = Math.max(everRecalled, total);
  }
}
