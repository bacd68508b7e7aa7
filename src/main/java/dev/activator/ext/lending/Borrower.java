package dev.activator.ext.lending;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PeerMessage.Bound;
import dev.activator.ext.lending.PeerMessage.Reach;
import dev.activator.ext.lending.PeerMessage.Want;
import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.PermitSharing.LocalQueue;
import dev.activator.throttle.PermitSharing.LocalRevision;
import dev.activator.throttle.PermitSharing.PodPermits;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Requests permits of the pods that other activators own: reports to the owners how many requests
 * wait here, and which of their pods this activator can reach. {@link Lender} is the other side.
 *
 * <p><b>Threads.</b> The revision's loop.
 */
final class Borrower {
  /**
   * The minimum pause between two messages about the same queue, unless the queue has doubled or is
   * empty.
   */
  private static final Duration WANT_PERIOD = Duration.ofMillis(5);
  /** When requests have waited this long, this activator reports which pods it can reach. */
  private static final Duration LONG_WAIT = Duration.ofSeconds(1);

  private final RevisionId id;
  private final Loop loop;
  private final LocalQueue queue;
  private final PermitLending lending;
  private final Map<PeerId, PeerRevisionState> peers;
  private final PodPermits permits;
  private final Map<Destination, PodLoans> pods;
  private final ResettableTimer wantTimer;

  /** @param onWantDue called when a queue may be reported again */
  Borrower(LocalRevision revision, PermitLending lending, Map<PeerId, PeerRevisionState> peers,
      Map<Destination, PodLoans> pods, Runnable onWantDue) {
    this.id = revision.id();
    this.loop = revision.loop();
    this.queue = revision.queue();
    this.lending = lending;
    this.permits = revision.permits();
    this.peers = peers;
    this.pods = pods;
    this.wantTimer = new ResettableTimer(loop, onWantDue);
  }

  /**
   * If requests have waited for long, reports to owners of pods which of them this activator can
   * reach. The owners may be unable to reach them.
   */
  void reportReached(Collection<PodLoans> pods) {
    if (queue.queued() > 0
        && loop.nanoTime() - queue.oldestNanos() >= LONG_WAIT.toNanos()) {
      report(pods);
    }
  }

  /**
   * If requests wait, reports pods that were just found here to their owners. An owner without
   * requests probes new pods less often, so it may find them later.
   */
  void reportFound(Set<PodLoans> found) {
    if (queue.queued() > 0) {
      report(found);
    }
  }

  private void report(Collection<PodLoans> which) {
    for (var lender : peers.values()) {
      if (lender.borrowingAccount != 0) {
        var reached = which.stream()
            .filter(pod -> pod.usable && !pod.owned && lender.address().equals(pod.owner)
                && pod.lender() != lender)
            .map(pod -> pod.pod).limit(Reach.MAX_PODS).collect(Collectors.toSet());
        if (!reached.isEmpty()) {
          lending.send(lender.activator, new Reach(id, lender.borrowingAccount, reached));
        }
      }
    }
  }

  /**
   * Reports how many requests wait here to the lenders.
   *
   * @param exact whether nothing is requested of a lender that is silent
   */
  void want(int queuedHere, boolean exact) {
    long now = loop.nanoTime();
    var byPod = queue.queuedByPod();
    for (var lender : peers.values()) {
      boolean mayLend = !exact || !lender.isSilent();
      int queued = mayLend ? queuedHere : 0;
      var bound = mayLend && !byPod.isEmpty() ? bound(lender, byPod) : Map.<Destination, Bound>of();
      int all = queued + sum(bound);
      if (lender.borrowingAccount == 0 || (all == 0 && lender.lastQueued == 0)) {
        continue;
      }
      long next = lender.lastWantNanos + WANT_PERIOD.toNanos() - now;
      boolean urgent = all == 0 || lender.lastQueued == 0 || all >= 2 * lender.lastQueued;
      if (urgent || next <= 0) {
        sendWant(lender, queued, bound, now);
      } else {
        wantTimer.within(next);
      }
    }
  }

  /** Takes back what was requested of the lender. */
  void wantNothing(PeerRevisionState lender) {
    if (lender.borrowingAccount != 0 && lender.lastQueued > 0) {
      sendWant(lender, 0, Map.of(), loop.nanoTime());
    }
  }

  /**
   * The requests that may run on certain pods of another activator only, without those that get idle
   * permits.
   */
  private Map<Destination, Bound> bound(PeerRevisionState lender, Map<Destination, Integer> byPod) {
    var all = new HashMap<Destination, Bound>();
    byPod.forEach((destination, count) -> {
      var pod = pods.get(destination);
      int idle = Math.max(0, permits.permits(destination) - permits.running(destination));
      if (pod != null && !pod.owned && count > idle) {
        var loan = pod.borrowed.get(lender);
        all.put(destination, new Bound(count - idle,
            loan == null || loan.account != lender.borrowingAccount ? 0 : loan.granted()));
      }
    });
    return all;
  }

  private static int sum(Map<Destination, Bound> bound) {
    return bound.values().stream().mapToInt(Bound::queued).sum();
  }

  private void sendWant(PeerRevisionState lender, int queued, Map<Destination, Bound> bound,
      long now) {
    lender.lastQueued = queued + sum(bound);
    lender.lastWantNanos = now;
    var oldest = Duration
        .ofNanos(lender.lastQueued == 0 ? 0 : Math.max(0, now - queue.oldestNanos()));
    lending.send(lender.activator,
        new Want(id, lender.borrowingAccount, queued, oldest, lender.received(), bound));
  }

  void close() {
    wantTimer.cancel();
  }
}
