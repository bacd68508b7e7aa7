package dev.activator.ext.lending;

import dev.activator.throttle.PermitLease;
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
}
