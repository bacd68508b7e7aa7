package dev.activator.ext.lending;

import dev.activator.ext.lending.PodLoans.Loan;
import dev.activator.ext.lending.PeerMessage.Grant;
import dev.activator.ext.lending.PeerMessage.Recall;
import dev.activator.ext.lending.policy.IdlePermitDivision;
import dev.activator.ext.lending.policy.IdlePermitDivision.Claim;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.PermitSharing.LocalQueue;
import dev.activator.throttle.PermitSharing.LocalRevision;
import dev.activator.throttle.PermitSharing.PodPermits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

/**
 * Gives the idle permits of this activator's pods to the requests that have waited longest, at this
 * activator or at another one. To do so, it keeps permits for requests here, lends permits to other
 * activators, and recalls lent ones.
 *
 * <p><b>Threads.</b> The revision's loop.
 */
final class Lender {
  /**
   * Smaller differences in age are ignored, because a permit is idle for a round trip while it
   * moves.
   */
  private static final Duration AGE_TOLERANCE = Duration.ofMillis(10);

  private final RevisionId id;
  private final Loop loop;
  private final PodPermits permits;
  private final LocalQueue queue;
  private final PermitLending lending;
  /** The limit of each pod. */
  private int limit;
  private int queuedElsewhere;

  Lender(LocalRevision revision, PermitLending lending) {
    this.id = revision.id();
    this.loop = revision.loop();
    this.permits = revision.permits();
    this.queue = revision.queue();
    this.lending = lending;
  }

  /** The number of requests that are known to wait at other activators. */
  int queuedElsewhere() {
    return queuedElsewhere;
  }

  /**
   * Divides idle permits among the waiting requests of all activators.
   *
   * @param lendable whether the permits of a pod may be lent
   * @return the number of requests that wait here and got no permit
   */
  int divide(Collection<PodLoans> pods, Collection<PeerRevisionState> peers, int limitOfPods,
      Predicate<PodLoans> lendable) {
    limit = limitOfPods;
    long now = loop.nanoTime();
    var borrowers = peers.stream().filter(peer -> peer.lendingAccount != 0).toList();
    var here = queue.queuedByPod();
    int idleKept = 0;
    int idleBorrowed = 0;
    var mine = new ArrayList<PodLoans>();
    var refused = new LinkedHashMap<Set<PeerRevisionState>, List<PodLoans>>();
    for (var pod : pods) {
      if (pod.owned && pod.usable && !lendable.test(pod)) {
        permits.setPermits(pod.pod, limit - pod.lent(), pod.until);
        idleKept += idle(pod);
      } else if (pod.owned && pod.usable) {
        if (isAwaited(pod, here, borrowers, now)) {
          // Goes first, because these requests cannot run on each pod. Others get what they leave.
          share(List.of(pod), borrowers, peer -> unservedOn(pod, peer, now),
              here.getOrDefault(pod.pod, 0), 0, now);
          if (idle(pod) == 0) {
            continue;
          }
        }
        var refusing = refusing(pod, borrowers, now);
        var group = refusing.isEmpty()
            ? mine
            : refused.computeIfAbsent(refusing, _ -> new ArrayList<>());
        group.add(pod);
      } else if (pod.owned) {
        permits.setPermits(pod.pod, 0, null);
        if (lendable.test(pod) && (pod.lent() > 0 || pod.isReached(now))) {
          share(List.of(pod), borrowers,
              peer -> pod.isReachedBy(peer, now) && !pod.isRefusedBy(peer, now)
                  ? unserved(peer, now) + unservedOn(pod, peer, now)
                  : 0,
              0, 0, now);
        }
      } else {
        idleBorrowed += Math.max(0, permits.permits(pod.pod) - permits.running(pod.pod));
      }
    }
    queuedElsewhere = borrowers.stream().filter(peer -> !peer.activator.lease().isOver(now))
        .mapToInt(peer -> peer.unserved() + peer.bound()).sum();
    int queued = Math.max(0, queue.queuedForAnyPod() - idleBorrowed);
    for (var group : refused.entrySet()) {
      queued -= share(group.getValue(), borrowers,
          peer -> group.getKey().contains(peer) ? 0 : unserved(peer, now), queued, 0, now);
    }
    return queued - share(mine, borrowers, peer -> unserved(peer, now), queued, idleKept, now);
  }

  /** Whether requests of any activator wait that can run on this pod, and not on each. */
  private static boolean isAwaited(PodLoans pod, Map<Destination, Integer> here,
      List<PeerRevisionState> borrowers, long now) {
    if (here.containsKey(pod.pod)) {
      return true;
    }
    for (var peer : borrowers) {
      if (unservedOn(pod, peer, now) > 0) {
        return true;
      }
    }
    return false;
  }

  private static int unservedOn(PodLoans pod, PeerRevisionState borrower, long now) {
    return borrower.activator.lease().isOver(now) || pod.isRefusedBy(borrower, now)
        ? 0
        : borrower.unservedOn(pod);
  }

  /**
   * The activators whose requests wait, but not for this pod, because they have just returned a
   * permit of it.
   */
  private static Set<PeerRevisionState> refusing(PodLoans pod, List<PeerRevisionState> borrowers,
      long now) {
    Set<PeerRevisionState> refusing = Set.of();
    for (var peer : borrowers) {
      if (pod.isRefusedBy(peer, now) && unserved(peer, now) > 0) {
        refusing = new HashSet<>(refusing);
        refusing.add(peer);
      }
    }
    return refusing;
  }

  private static int unserved(PeerRevisionState borrower, long now) {
    // If the lease of this activator is over, that of the borrower is over, too.
    return borrower.activator.lease().isOver(now) ? 0 : borrower.unserved();
  }

  private int idle(PodLoans pod) {
    return Math.max(0, limit - pod.lent() - permits.running(pod.pod));
  }

  /**
   * Divides the idle permits of these pods.
   *
   * @param wanted how many requests of an activator wait that can run on these pods
   * @param queued the number of requests here that can
   * @param idleKept idle permits of other pods, for requests here only
   * @return how many permits requests here get
   */
  private int share(List<PodLoans> these, List<PeerRevisionState> borrowers,
      ToIntFunction<PeerRevisionState> wanted, int queued, int idleKept, long now) {
    var claims = new ArrayList<Claim>();
    claims.add(new Claim(queued, queued > 0 ? queue.oldestNanos() : now));
    borrowers.forEach(
        peer -> claims.add(new Claim(wanted.applyAsInt(peer), peer.wantedSinceNanos)));
    int idle = idleKept + these.stream().mapToInt(this::idle).sum();
    var divided = IdlePermitDivision.divide(idle, claims, now, AGE_TOLERANCE.toNanos());
    int missing = 0;
    for (int i = 0; i < borrowers.size(); i++) {
      missing += lend(these, borrowers.get(i), divided.given()[i + 1]);
    }
    // Requests here took the missing permits in the meantime. As those are released, they go to the
    // borrowers.
    keep(these, divided.given()[0], divided.recalled()[0] + missing);
    for (int i = 0; i < borrowers.size(); i++) {
      recall(these, borrowers.get(i), divided.recalled()[i + 1], claims.get(i + 1).queued() > 0);
    }
    return divided.given()[0];
  }

  /** Lends idle permits. Returns how many could not be lent, because no pod had an idle one. */
  private int lend(List<PodLoans> these, PeerRevisionState borrower, int count) {
    int left = count;
    for (var pod : these) {
      if (left == 0) {
        break;
      }
      var loan = pod.lent.get(borrower);
      int lent = 0;
      while (left > 0 && take(pod)) {
        if (loan == null || loan.account != borrower.lendingAccount) {
          loan = new Loan(borrower.lendingAccount, 0);
          pod.lent.put(borrower, loan);
        }
        loan.grantedNow(loan.granted() + 1);
        lending.counts().lent().increment();
        borrower.granted();
        left--;
        lent++;
      }
      if (lent > 0 && loan != null) {
        lending.send(borrower.activator, new Grant(id, loan.account, pod.pod, loan.granted()));
      }
    }
    return left;
  }

  /** Takes one idle permit, so that this activator no longer has it. False if there was none. */
  private boolean take(PodLoans pod) {
    int rest = limit - pod.lent() - 1;
    if (rest < 0) {
      return false;
    }
    // Requests of other threads may take permits at the same time.
    return permits.setPermits(pod.pod, rest, null) <= rest;
  }

  /**
   * Keeps the permits that are not lent, except for those that older requests elsewhere need, and
   * those of a pod that this activator cannot reach.
   */
  private void keep(List<PodLoans> these, int given, int recalled) {
    boolean more = false;
    int left = given;
    for (var pod : these) {
      if (!pod.usable) {
        continue;
      }
      int most = Math.max(0, limit - pod.lent());
      int before = permits.permits(pod.pod);
      int running = permits.running(pod.pod);
      int next = Math.clamp(most - running, 0, left);
      left -= next;
      int least = next == 0 ? 0 : running + next;
      more |= permits.setPermits(pod.pod, Math.max(least, most - recalled), null) > before;
    }
    if (more && queue.queued() > 0) {
      queue.grant();
    }
  }

  private void recall(List<PodLoans> these, PeerRevisionState borrower, int count, boolean waits) {
    int left = count;
    for (var pod : these) {
      var loan = pod.lent.get(borrower);
      if (loan != null && loan.account == borrower.lendingAccount) {
        int some = Math.min(left, loan.outstanding());
        // This activator does not know which permits are idle. But a borrower whose own requests
        // wait has no idle one.
        left -= waits ? some : 0;
        long recalled = loan.returned() + Math.max(some, excess(pod, borrower));
        if (recalled != loan.recalled() && (recalled > loan.returned() || loan.toReturn() > 0)) {
          loan.recalledNow(recalled);
          lending.send(borrower.activator, new Recall(id, loan.account, pod.pod, recalled));
          lending.counts().recallsSent().increment();
        }
      }
    }
  }

  /**
   * The number of permits that the borrower must return because the limit was lowered after they
   * were lent.
   */
  private int excess(PodLoans pod, PeerRevisionState borrower) {
    int over = pod.lent() - limit;
    for (var loan : pod.lent.entrySet()) {
      int part = Math.clamp(over, 0, loan.getValue().outstanding());
      if (loan.getKey() == borrower) {
        return part;
      }
      over -= part;
    }
    return 0;
  }
}
