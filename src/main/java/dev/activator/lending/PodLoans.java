package dev.activator.lending;

import dev.activator.revision.Destination;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The permits of one pod, as this activator counts them. Confined to the revision's loop. */
final class PodLoans {
  final Destination pod;
  /** The address of its owner; null if several activators send requests to the pod. */
  @Nullable String owner;
  boolean listed;
  /** Whether this activator may send requests to the pod: it is listed, and not ejected. */
  boolean routed;
  /** Whether this activator issues the pod's permits. */
  boolean owned;
  /** Until when this activator may use a pod that now belongs to another one; null if it does not. */
  @Nullable LoanLease until;
  final Map<PeerRevisionState, Loan> lent = new LinkedHashMap<>(2);
  /** Permits are borrowed from one activator at a time. The loans of others only keep their counts. */
  final Map<PeerRevisionState, Loan> borrowed = new LinkedHashMap<>(2);
  /** Idle borrowed permits at the last tick. */
  int idle;
  /** Until when other activators count as able to reach the pod, even if this one cannot. */
  private final Map<PeerRevisionState, Long> reachedUntilNanos = new LinkedHashMap<>(2);

  PodLoans(Destination pod, @Nullable String owner) {
    this.pod = pod;
    this.owner = owner;
  }

  void reachedBy(PeerRevisionState partner, long untilNanos) {
    reachedUntilNanos.put(partner, untilNanos);
  }

  boolean isReached(long nowNanos) {
    reachedUntilNanos.values().removeIf(until -> until - nowNanos <= 0);
    return !reachedUntilNanos.isEmpty();
  }

  /** Whether the activator has said that it reaches the pod, or has permits of it. */
  boolean isReachedBy(PeerRevisionState partner, long nowNanos) {
    var loan = lent.get(partner);
    return isReached(nowNanos) && reachedUntilNanos.containsKey(partner)
        || loan != null && loan.outstanding() > 0;
  }

  void forget(PeerRevisionState partner) {
    reachedUntilNanos.remove(partner);
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

  /** @param lender that {@link #lender} names */
  Loan loanOf(PeerRevisionState lender) {
    return Objects.requireNonNull(borrowed.get(lender));
  }

  /** Whether this object can be dropped: no account that is still open counts the pod's permits. */
  boolean isUnused(long nowNanos) {
    return !listed && lent() == 0 && lender() == null && !isReached(nowNanos)
        && lent.entrySet().stream()
            .noneMatch(it -> it.getValue().account == it.getKey().lendingAccount)
        && borrowed.entrySet().stream()
            .noneMatch(it -> it.getValue().account == it.getKey().borrowingAccount);
  }
}
