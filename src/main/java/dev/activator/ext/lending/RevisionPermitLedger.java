package dev.activator.ext.lending;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PodLoans.Loan;
import dev.activator.ext.lending.PeerMessage.Grant;
import dev.activator.ext.lending.PeerMessage.Reach;
import dev.activator.ext.lending.PeerMessage.Recall;
import dev.activator.ext.lending.PeerMessage.Return;
import dev.activator.ext.lending.PeerMessage.Want;
import dev.activator.ext.lending.PeerMessage.Yield;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.PermitSharing.LocalQueue;
import dev.activator.throttle.PermitSharing.LocalRevision;
import dev.activator.throttle.PermitSharing.PodPermits;
import dev.activator.throttle.PermitSharing.SharedPods;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The accounts of one revision's permits. For a pod that this activator owns, the permits that are
 * used here and those that are lent add up to the pod's limit. For any other pod, the borrowed
 * permits are used here.
 *
 * <p>A lent permit is free again when the borrower has returned it, when the borrower's process has
 * ended, or when it has been silent for {@link #reservation}.
 *
 * <p><b>Threads.</b> The revision's loop.
 */
final class RevisionPermitLedger {
  private static final Duration REFUSED = Duration.ofSeconds(1);
  /** The borrower's lease, plus a margin for different clocks. */
  private static final Duration LENDER_LEASE = Duration.ofSeconds(15);
  /** The same where a queue-proxy keeps the limit, so that a margin too short does no harm. */
  private static final Duration GUARDED_LEASE = PeerActivator.LEASE.plusSeconds(2);
  /** A margin for a borrower that was suspended, and could not end its requests in time. */
  private static final Duration PAUSE = Duration.ofMinutes(1);
  private static final int MAX_UNUSED = 32;
  /** How long a {@link Reach} is valid. It is repeated each second while requests wait. */
  private static final Duration REACHED = Duration.ofSeconds(3);

  private final RevisionId id;
  private final Loop loop;
  private final PodPermits permits;
  private final LocalQueue queue;
  private final PermitLending lending;
  private final Map<PeerId, PeerRevisionState> peers;
  private final Map<Destination, PodLoans> pods = new LinkedHashMap<>();
  private final Lender lender;
  private final Borrower borrower;
  private SharedPods shared;
  /**
   * Never decreases, because requests that began before a timeout was lowered may still run
   * somewhere.
   */
  private volatile Duration longestRequest;
  private Function<Destination, @Nullable String> owner = _ -> null;

  /** @param onWantDue called when a queue may be reported again */
  RevisionPermitLedger(LocalRevision revision, PermitLending lending,
      Map<PeerId, PeerRevisionState> peers, SharedPods shared, Runnable onWantDue) {
    this.id = revision.id();
    this.loop = revision.loop();
    this.permits = revision.permits();
    this.queue = revision.queue();
    this.lending = lending;
    this.peers = peers;
    this.lender = new Lender(revision, lending);
    this.borrower = new Borrower(revision, lending, peers, pods, onWantDue);
    this.shared = shared;
    this.longestRequest = shared.longestRequest();
  }

  Collection<PodLoans> pods() {
    return Collections.unmodifiableCollection(pods.values());
  }

  PodLoans pod(Destination pod) {
    return pods.computeIfAbsent(pod, it -> new PodLoans(it, owner.apply(it)));
  }

  void owners(Function<Destination, @Nullable String> now) {
    owner = now;
    pods.values().forEach(pod -> pod.owner = now.apply(pod.pod));
  }

  /** Updates the pods. Returns those that can be reached now but could not be before. */
  Set<PodLoans> setPods(SharedPods now) {
    shared = now;
    if (now.longestRequest().compareTo(longestRequest) > 0) {
      longestRequest = now.longestRequest();
    }
    var listed = Set.copyOf(now.pods());
    now.pods().forEach(this::pod);
    var found = new HashSet<PodLoans>();
    pods.values().forEach(pod -> {
      boolean before = pod.usable;
      pod.listed = listed.contains(pod.pod);
      pod.usable = pod.listed && !now.ejected().contains(pod.pod);
      pod.owned &= pod.listed || pod.lent() > 0 || pod.isReached(loop.nanoTime());
      if (pod.usable && !before) {
        found.add(pod);
      }
    });
    return found;
  }

  void close() {
    borrower.close();
    pods.clear();
  }

  void own(Collection<Destination> these) {
    these.forEach(pod -> pod(pod).owned = true);
  }

  void own(Predicate<Destination> which) {
    pods.values().forEach(pod -> pod.owned = which.test(pod.pod));
  }

  void acquire(Predicate<PodLoans> which) {
    long now = loop.nanoTime();
    for (var pod : pods.values()) {
      if (!pod.owned && (pod.usable || pod.isReached(now)) && which.test(pod)) {
        pod.owned = true;
        // The borrowed permits are now used as the owner's.
        pod.borrowed.clear();
      }
    }
  }

  /**
   * Gives a pod to its new owner. Returns the number of permits that are still in use here; they
   * become a loan from the new owner.
   */
  int giveUp(PodLoans pod, PeerRevisionState to, long account, boolean withLoans) {
    pod.owned = false;
    if (withLoans) {
      // The borrowers will report these loans to the new owner themselves.
      pod.lent.clear();
      pod.borrowed.clear();
    }
    int kept = permits.setPermits(pod.pod, 0, null);
    if (kept > 0) {
      var lease = to.activator.lease();
      pod.borrowed.put(to, new Loan(account, kept, lease));
      permits.setPermits(pod.pod, kept, lease);
    } else {
      pod.borrowed.remove(to);
    }
    return kept;
  }

  /** @param included the pods for which the borrower reports the permits that it uses */
  void opened(PeerRevisionState borrower, Yield yield, Predicate<PodLoans> included) {
    pods.values().stream().filter(included)
        .forEach(pod -> pod.lent.remove(borrower));
    yield.inUse().forEach((pod, used) -> pod(pod).lent.put(borrower,
        new Loan(yield.account(), used)));
  }

  /** Ends all loans to a borrower. Returns whether there were any. */
  boolean ended(PeerRevisionState borrower) {
    boolean had = false;
    for (var pod : pods.values()) {
      had |= pod.lent.remove(borrower) != null;
      pod.forget(borrower);
    }
    return had;
  }

  void wants(PeerRevisionState borrower, Want want) {
    if (want.account() == borrower.lendingAccount) {
      borrower.wants(want, loop.nanoTime());
    }
  }

  void reached(PeerRevisionState borrower, Reach reach, Predicate<Destination> own) {
    if (reach.account() == borrower.lendingAccount) {
      long until = loop.nanoTime() + REACHED.toNanos();
      reach.pods().stream().filter(own).limit(Reach.MAX_PODS)
          .forEach(pod -> pod(pod).reachedBy(borrower, until));
    }
  }

  Borrower borrower() {
    return borrower;
  }

  Lender lender() {
    return lender;
  }

  /** @param isTaken whether no further permits of a pod may be borrowed */
  void granted(PeerRevisionState lender, Grant grant, Predicate<PodLoans> isTaken) {
    if (grant.account() != lender.borrowingAccount) {
      return;
    }
    var pod = pod(grant.pod());
    var other = pod.lender();
    var loan = pod.borrowed.get(lender);
    if (loan == null || loan.account != grant.account()) {
      loan = new Loan(grant.account(), 0, lender.activator.lease());
      pod.borrowed.put(lender, loan);
    }
    renew(pod, lender, loan);
    int more = loan.grantedNow(grant.granted());
    lending.counts().borrowed().add(more);
    lender.received(more);
    if (!pod.usable || pod.owned || (other != null && other != lender) || isTaken.test(pod)) {
      giveBack(pod, lender, loan, more);
    } else if (more > 0) {
      pod.idle = 0;
      permits.setPermits(pod.pod, loan.outstanding() - loan.toReturn(), loan.lease());
      queue.grant();
    }
  }

  /**
   * If the lease is over, returns idle permits and begins a new lease. Does so even if the lender
   * has answered again in the meantime.
   */
  private void renew(PodLoans pod, PeerRevisionState lender, Loan loan) {
    var lease = loan.lease();
    if (lease == null || lease.isOver(loop.nanoTime())) {
      giveBack(pod, lender, loan, loan.outstanding() - permits.setPermits(pod.pod, 0, lease));
      loan.renew(lender.activator.lease());
    }
  }

  private void giveBack(PodLoans pod, PeerRevisionState lender, Loan loan, int count) {
    if (count > 0) {
      loan.returnedNow(loan.returned() + count);
      if (loan.account == lender.borrowingAccount) {
        lending.send(lender.activator, new Return(id, loan.account, pod.pod, loan.returned()));
      }
    }
  }

  void recalled(PeerRevisionState lender, Recall recall) {
    var loan = pod(recall.pod()).borrowed.get(lender);
    if (loan != null && loan.account == recall.account()
        && loan.account == lender.borrowingAccount) {
      loan.recalledNow(recall.recalled());
      lending.counts().recallsReceived().increment();
    }
  }

  void returned(PeerRevisionState borrower, Return back) {
    var loan = pod(back.pod()).lent.get(borrower);
    if (loan != null && loan.account == back.account()
        && loan.account == borrower.lendingAccount) {
      if (loan.returnedNow(back.returned()) > 0 && loan.isUnrequested() && borrower.wanted > 0) {
        // The borrower returns an idle permit although its requests wait, so it cannot reach the
        // pod.
        loan.refuse(loop.nanoTime() + REFUSED.toNanos());
      }
    }
  }

  /** Whether permits are lent or borrowed, or will be offered again after a refusal. */
  boolean hasLoans() {
    long now = loop.nanoTime();
    return pods.values().stream().anyMatch(pod -> pod.lent() > 0 || pod.lender() != null
        || pod.lent.values().stream().anyMatch(loan -> loan.isRefused(now)));
  }

  void settle(Predicate<PodLoans> lendable) {
    for (var pod : pods.values()) {
      if (pod.owned) {
        returnToLender(pod);
      } else {
        settleBorrowed(pod);
      }
    }
    long now = loop.nanoTime();
    pods.values().removeIf(pod -> pod.isUnused(now));
    borrower.want(lender.divide(pods.values(), peers.values(), shared.limit(), lendable),
        shared.exact());
  }

  /**
   * Returns all borrowed permits to the lender, because this activator owns the pod now. Running
   * requests then use this activator's permits.
   */
  private void returnToLender(PodLoans pod) {
    var before = pod.lender();
    if (before != null) {
      var loan = pod.loanOf(before);
      giveBack(pod, before, loan, loan.outstanding());
    }
  }

  /** Whether many pods no longer exist but are still counted in open accounts. */
  boolean hasManyUnused() {
    return pods.size() > MAX_UNUSED + 2 * shared.pods().size();
  }

  private void settleBorrowed(PodLoans pod) {
    var lender = pod.lender();
    if (lender == null) {
      permits.setPermits(pod.pod, 0, null);
      return;
    }
    var loan = pod.loanOf(lender);
    renew(pod, lender, loan);
    int wanted = pod.usable ? loan.outstanding() - loan.toReturn() : 0;
    giveBack(pod, lender, loan,
        loan.outstanding() - permits.setPermits(pod.pod, wanted, loan.lease()));
  }

  int lent() {
    return pods.values().stream().mapToInt(PodLoans::lent).sum();
  }

  int borrowed() {
    int sum = 0;
    for (var pod : pods.values()) {
      var lender = pod.owned ? null : pod.lender();
      sum += lender == null ? 0 : pod.loanOf(lender).outstanding();
    }
    return sum;
  }

  /**
   * The number of requests that would wait if this activator used only its own pods, with all of
   * their permits.
   */
  int runningBeyondOwnPods() {
    int room = 0;
    int elsewhere = 0;
    for (var pod : pods.values()) {
      int running = permits.running(pod.pod);
      if (!pod.owned) {
        elsewhere += running;
      } else if (pod.usable) {
        room += Math.max(0, shared.limit() - running);
      }
    }
    return Math.max(0, elsewhere - room);
  }

  /** Uses no further permits of the lender, and returns those in use as their requests end. */
  void returnTo(PeerRevisionState lender) {
    // First, so that the lender does not lend again what comes back.
    borrower.wantNothing(lender);
    for (var pod : pods.values()) {
      var loan = pod.borrowed.get(lender);
      if (loan != null) {
        loan.recalledNow(loan.returned() + loan.outstanding());
      }
    }
  }

  /** Returns borrowed permits that were already idle at the last call, and that no request waits for. */
  void returnIdle() {
    var bound = queue.queuedByPod();
    boolean anyPodWillDo = queue.queuedForAnyPod() > 0;
    for (var pod : pods.values()) {
      var lender = pod.lender();
      if (lender != null && !anyPodWillDo && !bound.containsKey(pod.pod)) {
        int idle = permits.permits(pod.pod) - permits.running(pod.pod);
        int unused = Math.min(idle, pod.idle);
        pod.idle = idle;
        if (unused > 0) {
          var loan = pod.loanOf(lender);
          int kept = permits.setPermits(pod.pod, loan.outstanding() - unused, loan.lease());
          giveBack(pod, lender, loan, loan.outstanding() - kept);
        }
      }
    }
  }

  /**
   * How long permits stay reserved for a borrower after its last beat: until its lease and all of
   * its requests are over. Where a queue-proxy keeps the limit, requests need not be over.
   */
  Duration reservation() {
    return shared.exact() ? longestUse() : GUARDED_LEASE;
  }

  /** The number of permits that are lent to a peer. */
  int lentTo(PeerRevisionState borrower) {
    int sum = 0;
    for (var pod : pods.values()) {
      var loan = pod.lent.get(borrower);
      sum += loan == null ? 0 : loan.outstanding();
    }
    return sum;
  }

  /**
   * How long borrowed permits may be in use after the borrower's last beat, even if its clock is 5
   * % slower.
   */
  Duration longestUse() {
    return LENDER_LEASE.plus(PAUSE)
        .plus(longestRequest.multipliedBy(9).dividedBy(8));
  }
}
