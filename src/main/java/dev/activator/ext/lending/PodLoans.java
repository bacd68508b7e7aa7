package dev.activator.ext.lending;

import dev.activator.throttle.PermitSharing.PermitLease;
import dev.activator.revision.Destination;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The permits of one pod, as this activator counts them. <b>Threads.</b> Confined to the revision's
 * loop.
 */
final class PodLoans {
  final Destination pod;
  /** The address of the pod's owner; null if several activators send requests to the pod. */
  @Nullable String owner;
  boolean listed;
  /** Whether this activator may send requests to the pod, because it is listed and not ejected. */
  boolean usable;
  /** Whether this activator issues the pod's permits. */
  boolean owned;
  /** The lease for using the pod, if it now belongs to another activator; otherwise null. */
  @Nullable PermitLease until;
  final Map<PeerRevisionState, Loan> lent = new LinkedHashMap<>(2);
  /**
   * The loans from other activators. Only one of them has outstanding permits; the others only keep
   * their counts.
   */
  final Map<PeerRevisionState, Loan> borrowed = new LinkedHashMap<>(2);
  /** The number of idle borrowed permits at the last tick. */
  int idle;
  /**
   * The times until which other activators are assumed to reach the pod, even if this one cannot.
   */
  private final Map<PeerRevisionState, Long> reachedUntilNanos = new LinkedHashMap<>(2);

  PodLoans(Destination pod, @Nullable String owner) {
    this.pod = pod;
    this.owner = owner;
  }

  void reachedBy(PeerRevisionState peer, long untilNanos) {
    reachedUntilNanos.put(peer, untilNanos);
  }

  boolean isReached(long nowNanos) {
    reachedUntilNanos.values().removeIf(until -> until - nowNanos <= 0);
    return !reachedUntilNanos.isEmpty();
  }

  /** Whether the activator has reported that it reaches the pod, or has permits of it. */
  boolean isReachedBy(PeerRevisionState peer, long nowNanos) {
    var loan = lent.get(peer);
    return isReached(nowNanos) && reachedUntilNanos.containsKey(peer)
        || loan != null && loan.outstanding() > 0;
  }

  /** Whether the activator has just returned a permit of the pod although its requests wait. */
  boolean isRefusedBy(PeerRevisionState peer, long nowNanos) {
    var loan = lent.get(peer);
    return loan != null && loan.isRefused(nowNanos);
  }

  void forget(PeerRevisionState peer) {
    reachedUntilNanos.remove(peer);
  }

  int lent() {
    int sum = 0;
    for (var loan : lent.values()) {
      sum += loan.outstanding();
    }
    return sum;
  }

  @Nullable PeerRevisionState lender() {
    for (var loan : borrowed.entrySet()) {
      if (loan.getValue().outstanding() > 0) {
        return loan.getKey();
      }
    }
    return null;
  }

  /** @param lender the result of {@link #lender} */
  Loan loanOf(PeerRevisionState lender) {
    return Objects.requireNonNull(borrowed.get(lender));
  }

  /** Whether this object can be dropped, because no open account counts the pod's permits. */
  boolean isUnused(long nowNanos) {
    return !listed && lent() == 0 && lender() == null && !isReached(nowNanos)
        && lent.entrySet().stream()
            .noneMatch(it -> it.getValue().account == it.getKey().lendingAccount)
        && borrowed.entrySet().stream()
            .noneMatch(it -> it.getValue().account == it.getKey().borrowingAccount);
  }

  /**
   * The permits of one pod that one activator has lent to another. Lender and borrower each have such
   * an object with their own counts.
   */
  static final class Loan {
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
}
