package dev.activator.lending;

import dev.activator.revision.Destination;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The permits of one pod, as this activator counts them. Confined to the revision's loop. */
final class SharedPod {
  final Destination pod;
  /** Its address; null if several activators send requests to the pod. */
  @Nullable String owner;
  boolean listed;
  /** Whether requests may be sent to it from here: it is listed, and not ejected. */
  boolean routed;
  /** Whether this activator issues its permits. */
  boolean owned;
  /** Of an owned pod that belongs to another activator now. */
  @Nullable LoanLease until;
  final Map<RevisionPeer, Loan> lent = new LinkedHashMap<>(2);
  /** From one activator at a time; of the others, what was counted. */
  final Map<RevisionPeer, Loan> borrowed = new LinkedHashMap<>(2);
  /** Idle borrowed permits at the last tick. */
  int idle;
  /** Until when others count as able to reach it, although this activator may not be. */
  private final Map<RevisionPeer, Long> reachedUntilNanos = new LinkedHashMap<>(2);

  SharedPod(Destination pod, @Nullable String owner) {
    this.pod = pod;
    this.owner = owner;
  }

  void reachedBy(RevisionPeer partner, long untilNanos) {
    reachedUntilNanos.put(partner, untilNanos);
  }

  boolean isReached(long nowNanos) {
    reachedUntilNanos.values().removeIf(until -> until - nowNanos <= 0);
    return !reachedUntilNanos.isEmpty();
  }

  /** Whether it has said so, or has permits of it. */
  boolean isReachedBy(RevisionPeer partner, long nowNanos) {
    var loan = lent.get(partner);
    return isReached(nowNanos) && reachedUntilNanos.containsKey(partner)
        || loan != null && loan.outstanding() > 0;
  }

  void forget(RevisionPeer partner) {
    reachedUntilNanos.remove(partner);
  }

  int lent() {
    int sum = 0;
    for (var loan : lent.values()) {
      sum += loan.outstanding();
    }
    return sum;
  }

  @Nullable RevisionPeer lender() {
    for (var loan : borrowed.entrySet()) {
      if (loan.getValue().outstanding() > 0) {
        return loan.getKey();
      }
    }
    return null;
  }

  /** @param lender that {@link #lender} names */
  Loan loanOf(RevisionPeer lender) {
    return Objects.requireNonNull(borrowed.get(lender));
  }

  /** Its counts must be kept as long as the other side counts on from them. */
  boolean isUnused(long nowNanos) {
    return !listed && lent() == 0 && lender() == null && !isReached(nowNanos)
        && lent.entrySet().stream()
            .noneMatch(it -> it.getValue().account == it.getKey().lendingAccount)
        && borrowed.entrySet().stream()
            .noneMatch(it -> it.getValue().account == it.getKey().borrowingAccount);
  }
}
