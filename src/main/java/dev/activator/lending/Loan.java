package dev.activator.lending;

import org.jspecify.annotations.Nullable;

/**
 * Permits of one pod that one activator lent another, as either side counts them in one account.
 */
final class Loan {
  final long account;
  /** The borrower's lease. It is replaced if the lender was silent in between. */
  private @Nullable LoanLease lease;
  /** What the borrower held when the account was opened. */
  private final int yielded;
  private long granted;
  private long returned;
  private long recalled;
  /** The highest number that was recalled, since a recall may be cancelled too late. */
  private long everRecalled;
  private boolean refused;
  private long refusedUntilNanos;

  /** The loan as the lender counts it. */
  Loan(long account, int yielded) {
    this(account, yielded, null);
  }

  /** The loan as the borrower counts it. */
  Loan(long account, int yielded, @Nullable LoanLease lease) {
    this.account = account;
    this.yielded = yielded;
    this.lease = lease;
  }

  @Nullable LoanLease lease() {
    return lease;
  }

  void renew(LoanLease now) {
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

  /** How many of the outstanding permits are recalled. */
  int toReturn() {
    return Math.clamp(recalled - returned, 0, outstanding());
  }

  /** Whether the permits that were returned last had not been recalled. */
  boolean isUnrequested() {
    return returned > everRecalled;
  }

  /**
   * Offers no permit of the pod until then, because the borrower returned one although its requests
   * wait.
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
