package dev.activator.lending;

import dev.activator.throttle.SharedPermitsView;
import dev.activator.throttle.SharedPermitsView.PodShare;
import dev.activator.throttle.SharedPermitsView.Sharing;
import dev.activator.lending.PeerMessage.OfRevision;
import dev.activator.lending.PeerMessage.View;
import dev.activator.lending.PeerMessage.Yield;
import dev.activator.lending.policy.PodSharding;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.PermitSharing.LocalQueue;
import dev.activator.throttle.PermitSharing.PodPermits;
import dev.activator.throttle.PermitSharing.SharedPods;
import dev.activator.throttle.PermitSharing.RevisionSharing;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lending of one revision. It decides which pods this activator owns, and agrees on that with
 * the other activators. {@link RevisionPermitLedger} has the permits.
 *
 * <p>Each change of this activator's view begins an epoch. This activator acquires a pod only after
 * all others have answered the {@link View} of the epoch. With the answer, an activator gives up
 * the pods that the sender owns in this view, and reports how many requests it still runs there. So
 * at most one activator owns a pod: if two answered each other, the later epoch began after its
 * activator had answered the earlier one. The number of running requests cannot grow, because the
 * activator that answered borrows no further permits of such a pod from a third one until the
 * sender begins another epoch. A pod keeps its owner until another activator requests it, so most
 * pods stay in use while views change.
 *
 * <p><b>Threads.</b> The revision's loop.
 */
public final class RevisionLending implements RevisionSharing {
  private static final Duration TICK = Duration.ofSeconds(1);
  /** The view if pods are divided by Knative's rule, because a member is not known to lend. */
  private static final long SLICED = 0;
  /**
   * The view if pods are divided so because another member does it. A third member does not follow
   * this activator.
   */
  private static final long SLICED_ELSEWHERE = -1;
  /**
   * How long to wait for a list of activators with this one. Lists come within milliseconds, so
   * after this time the requests must come another way.
   */
  private static final Duration FIRST_VIEW = Duration.ofSeconds(10);
  private static final Logger log = LoggerFactory.getLogger(RevisionLending.class);

  private final RevisionId id;
  private final Loop loop;
  private final String own;
  private final PodPermits permits;
  private final LocalQueue queue;
  private final PermitLending lending;
  private final RevisionPermitLedger ledger;
  private final Map<PeerId, PeerRevisionState> partners = new LinkedHashMap<>();
  private final ResettableTimer ticks;
  private final ResettableTimer firstView;
  private KnownActivators fleet = KnownActivators.UNKNOWN;
  private PodSharding owners = PodSharding.NONE;
  private SharedPods routed;
  private List<String> listed = List.of();
  /**
   * Whether this activator has been listed, and knew all activators of that list. Of two
   * activators, the one that is listed later then knows the other, and uses no pod that the other
   * has not yielded.
   */
  private boolean hasView;
  /** Whether this activator is known to have been the only one since it was listed. */
  private boolean hadAll;
  private long epoch;
  /** The number of this epoch's view. */
  private long view;
  private volatile int queuedElsewhere;
  private volatile int lent;
  private volatile int borrowed;
  private boolean settling;
  private boolean closed;

  RevisionLending(RevisionId id, Loop loop, String own, PodPermits permits, LocalQueue queue,
      SharedPods routed,
      PermitLending lending) {
    this.id = id;
    this.loop = loop;
    this.own = own;
    this.permits = permits;
    this.queue = queue;
    this.lending = lending;
    this.routed = routed;
    this.ledger = new RevisionPermitLedger(id, loop, permits, queue, lending, partners, routed,
        this::onQueue);
    this.ticks = new ResettableTimer(loop, this::tick);
    this.firstView = new ResettableTimer(loop, this::goOnWithoutView);
  }

  Loop loop() {
    return loop;
  }

  @Override
  public void open() {
    lending.opened(id, this);
  }

  @Override
  public boolean isActive() {
    return !closed && (awaitsView() || fleet.isKnown() && !fleet.isAlone());
  }

  /**
   * Whether other activators may use the revision's pods without this one's knowledge, so that it
   * must not use any.
   */
  private boolean awaitsView() {
    return !hasView && routed.exact() && lending.isStarted();
  }

  private void goOnWithoutView() {
    boolean wasActive = isActive();
    if (awaitsView()) {
      log.warn(
          "{}: {} s after its first request no list of activators has {}: requests are sent to its"
              + " pods without regard to other activators",
          id, FIRST_VIEW.toSeconds(), own);
      lending.unlisted(true);
    }
    hasView = true;
    settleAfter(wasActive);
  }

  @Override
  public void onPods(SharedPods now) {
    boolean wasActive = isActive();
    routed = now;
    if (wasActive != isActive()) {
      // The revision has lost its queue-proxy, or got one. This call leads back here.
      queue.reroute();
    } else if (isActive()) {
      var found = ledger.routed(now);
      divide();
      settle();
      if (owners.allLend()) {
        ledger.reportFound(found);
      }
    }
  }

  @Override
  public void onActivators(List<String> addresses) {
    boolean wasActive = isActive();
    listed = addresses;
    seen();
    hadAll = !isActive() && (addresses.equals(List.of(own)) || (hadAll && addresses.contains(own)));
    settleAfter(wasActive);
  }

  private void seen() {
    hasView |= fleet.isKnown() && listed.contains(own) && fleet.addresses().containsAll(listed);
    if (hasView) {
      firstView.cancel();
    }
    if (lending.isUnlisted() && listed.contains(own)) {
      lending.unlisted(false);
    }
  }

  private void settleAfter(boolean wasActive) {
    if (wasActive != isActive()) {
      queuedElsewhere = 0;
      queue.reroute();
    }
    if (isActive()) {
      divide();
      onQueue();
    } else {
      lent = 0;
      borrowed = 0;
      // The other activators may have left the list before it was known that they are gone.
      hadAll |= listed.equals(List.of(own));
    }
  }

  @Override
  public void onQueue() {
    if (isActive() && !settling) {
      settling = true;
      loop.execute(() -> {
        settling = false;
        if (isActive()) {
          settle();
        }
      });
    }
  }

  @Override
  public void close() {
    closed = true;
    ticks.cancel();
    firstView.cancel();
    ledger.close();
    lending.closed(id, this);
  }

  void fleet(KnownActivators now) {
    boolean wasAlone = fleet.isKnown() && fleet.isAlone() && hadAll;
    boolean wasActive = isActive();
    fleet = now;
    seen();
    if (wasActive != isActive() && wasAlone) {
      // While this activator was the only one, it owned all pods.
      ledger.own(routed.pods());
    }
    settleAfter(wasActive);
  }

  /** Adds a peer that existed before this revision. */
  void earlierPeer(PeerActivator peer) {
    peer(peer);
    partner(peer).wasAnsweredWithoutTheRevision();
    if (!peer.isConnected()) {
      disconnected(peer.id());
    }
  }

  /** Call when a peer has connected. */
  void peer(PeerActivator peer) {
    var partner = partner(peer);
    partner.connected = true;
    partner.expired = false;
    partner.closeAccounts();
    partner.view = null;
    if (isActive()) {
      sendView(partner);
      onQueue();
    }
  }

  private PeerRevisionState partner(PeerActivator peer) {
    return partners.computeIfAbsent(peer.id(), _ -> new PeerRevisionState(peer, loop.nanoTime()));
  }

  void disconnected(PeerId peer) {
    var partner = partners.get(peer);
    if (partner != null) {
      partner.connected = false;
      partner.view = null;
      partner.closeAccounts();
      onQueue();
    }
  }

  void ended(PeerId peer) {
    var partner = partners.remove(peer);
    if (partner != null) {
      partner.connected = false;
      partner.closeAccounts();
      ledger.ended(partner);
      onQueue();
    }
  }

  void received(PeerActivator from, OfRevision message) {
    var partner = partners.get(from.id());
    if (partner == null || !partner.connected || closed) {
      return;
    }
    switch (message) {
      case View view -> viewed(partner, view);
      case Yield yield -> agreed(partner, yield);
      case PeerMessage.Want want -> ledger.wants(partner, want);
      case PeerMessage.Grant grant ->
        ledger.granted(partner, grant, pod -> mayBeAcquiredByAnother(pod, partner));
      case PeerMessage.Return back -> ledger.returned(partner, back);
      case PeerMessage.Recall recall -> ledger.recalled(partner, recall);
      case PeerMessage.Reach reach -> {
        if (owners.allLend()) {
          ledger.reached(partner, reach, pod -> own.equals(owners.owner(pod)));
        }
      }
    }
    onQueue();
  }

  private void viewed(PeerRevisionState partner, View now) {
    if (partner.view == null || partner.view.epoch() != now.epoch()) {
      // The peer has closed the accounts, and may not have had the revision when it got our view.
      partner.closeAccounts();
      partner.began(now.epoch());
      sendView(partner);
    }
    partner.view = now;
    partner.slices = now.view() == SLICED;
    if (!isActive() || !divide()) {
      answer(partner);
    }
  }

  /**
   * Whether no further permits of the pod may be borrowed, because another activator got an answer
   * how many are used here, and may rely on that.
   */
  private boolean mayBeAcquiredByAnother(PodLoans pod, PeerRevisionState lender) {
    if (routed.exact() && owners.allLend()) {
      for (var partner : partners.values()) {
        if (partner != lender && partner.mayAcquire(pod, owners)) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Computes the owners of the pods, and begins an epoch if the view has changed.
   *
   * @return whether an epoch began; then all views have been answered
   */
  private boolean divide() {
    var members = currentMembers();
    boolean isMixed = members.stream().anyMatch(fleet.notLending()::contains);
    boolean allLend = !isMixed && !isSlicedElsewhere(members);
    var before = owners;
    owners = new PodSharding(members, allLend, routed.pods());
    if (!owners.equals(before)) {
      ledger.owners(owners::owner);
    }
    long viewBefore = view;
    view = isMixed ? SLICED : allLend ? viewOfOwners() : SLICED_ELSEWHERE;
    if (epoch != 0 && view == viewBefore) {
      return false;
    }
    if (allLend && !before.allLend() || routed.limit() == 0) {
      // Slices may have overlapped; and without a limit all activators use all pods.
      ledger.own(_ -> false);
    }
    epoch = lending.nextNumber();
    partners.values().forEach(partner -> {
      partner.agreed = false;
      partner.closeAccounts();
      sendView(partner);
    });
    partners.values().forEach(this::answer);
    return true;
  }

  private long viewOfOwners() {
    return routed.limit() > 0 ? owners.view() : owners.viewWithoutLimit();
  }

  /**
   * Whether another member divides the pods by Knative's rule, because it knows of a member that
   * does not lend.
   */
  private boolean isSlicedElsewhere(List<String> members) {
    for (var partner : partners.values()) {
      if (partner.slices && members.contains(partner.address())) {
        return true;
      }
    }
    return false;
  }

  private static boolean isSliced(long view) {
    return view == SLICED || view == SLICED_ELSEWHERE;
  }

  /**
   * The activators that share the revision. They stay the same while the Endpoints have pods
   * instead of activators.
   */
  private List<String> currentMembers() {
    if (listed.contains(own) || listed.stream().anyMatch(fleet::has)) {
      return List.copyOf(new TreeSet<>(listed));
    }
    return owners.members().isEmpty()
        ? List.copyOf(new TreeSet<>(fleet.addresses()))
        : owners.members();
  }

  private void sendView(PeerRevisionState partner) {
    if (partner.connected && epoch != 0) {
      lending.send(partner.peer, new View(id, epoch, view));
    }
  }

  /**
   * Answers the view of a peer if this activator has the same view. Call once for each view that is
   * received or begun.
   */
  private void answer(PeerRevisionState partner) {
    var requested = partner.view;
    if (requested == null || !partner.connected || !isActive()
        || requested.view() != view && !(isSliced(requested.view()) && isSliced(view))) {
      return;
    }
    long account = lending.nextNumber();
    var held = new HashMap<Destination, Integer>();
    if (owners.allLend() && routed.limit() > 0) {
      permits.running().keySet().forEach(ledger::pod);
    }
    ledger.pods().stream().filter(pod -> isOf(partner, pod)).forEach(pod -> {
      int kept = ledger.giveUp(pod, partner, account, owners.allLend());
      if (kept > 0) {
        held.put(pod.pod, kept);
      }
    });
    partner.openBorrowing(account);
    partner.answered(owners.allLend() ? owners : PodSharding.NONE);
    lending.send(partner.peer, new Yield(id, requested.epoch(), account, held));
  }

  private boolean isOf(PeerRevisionState partner, PodLoans pod) {
    return owners.allLend()
        ? partner.address().equals(pod.owner)
        : pod.lender() == partner;
  }

  private void agreed(PeerRevisionState partner, Yield yield) {
    if (yield.account() == 0) {
      // The peer does not have the revision, so it does not rely on an answer.
      partner.answered(PodSharding.NONE);
    }
    if (yield.epoch() == epoch) {
      partner.agreed = true;
      partner.openLending(yield.account());
      ledger.opened(partner, yield,
          pod -> !owners.allLend() || own.equals(pod.owner));
    }
  }

  private void settle() {
    if (awaitsView() && queue.queued() > 0) {
      firstView.within(lending.isUnlisted() ? Duration.ZERO : FIRST_VIEW);
    }
    if (owners.allLend()) {
      boolean allowed = !routed.exact() || allAgree();
      ledger.acquire(
          pod -> allowed && own.equals(pod.owner) || isSharedWithoutLink(pod));
    } else {
      ledger.own(pod -> !awaitsView() && routed.slice().contains(pod));
    }
    if (owners.allLend()) {
      ledger.pods().forEach(this::keepUntilRequested);
    }
    ledger.settle(pod -> own.equals(pod.owner));
    queuedElsewhere = owners.allLend() ? ledger.queuedElsewhere() : 0;
    lent = ledger.lent();
    borrowed = ledger.borrowed();
    if (ledger.hasLoans() || ledger.hasManyUnused() || queue.queued() > 0 || !allAgree()) {
      ticks.within(TICK);
    }
  }

  @Override
  public int queuedElsewhere() {
    return queuedElsewhere;
  }

  /** The number of lent permits. <b>Threads.</b> Any may read. */
  int lent() {
    return lent;
  }

  /** The number of borrowed permits. <b>Threads.</b> Any may read. */
  int borrowed() {
    return borrowed;
  }

  /**
   * Whether the pod is used by Knative's rule although it has another owner. This is so if there is
   * no link to the owner, and the pod's queue-proxy keeps the limit.
   */
  private boolean isSharedWithoutLink(PodLoans pod) {
    return !routed.exact() && routed.slice().contains(pod.pod) && !own.equals(pod.owner)
        && partners.values().stream()
            .noneMatch(partner -> partner.connected && partner.address().equals(pod.owner));
  }

  /**
   * Keeps a pod that its next owner has not requested yet, for as long as a borrower's lease. After
   * that time the next owner does not wait for this activator.
   */
  private void keepUntilRequested(PodLoans pod) {
    pod.until = null;
    if (!pod.owned || own.equals(pod.owner) || isSharedWithoutLink(pod)) {
      return;
    }
    for (var partner : partners.values()) {
      if (partner.address().equals(pod.owner)) {
        pod.until = partner.peer.lease();
        boolean isNew = loop.nanoTime() - partner.sinceNanos < PeerActivator.LEASE.toNanos();
        pod.owned &= isNew || !pod.until.isOver(loop.nanoTime());
      }
    }
  }

  private boolean allAgree() {
    if (awaitsView()) {
      return false;
    }
    for (var partner : partners.values()) {
      if (!partner.agreed && !partner.expired
          && !fleet.notLending().contains(partner.address())) {
        return false;
      }
    }
    for (var peer : fleet.peers()) {
      if (!partners.containsKey(peer)) {
        return false;
      }
    }
    return areKnown(fleet.addresses()) && areKnown(owners.members());
  }

  private boolean areKnown(Collection<String> addresses) {
    for (var address : addresses) {
      if (!isKnown(address)) {
        return false;
      }
    }
    return true;
  }

  private boolean isKnown(String address) {
    return address.equals(own) || fleet.notLending().contains(address)
        || fleet.isPeer(address);
  }

  private void tick() {
    if (isActive()) {
      lending.counts().saved(ledger.runningBeyondOwnPods());
      ledger.returnIdle();
      if (owners.allLend()) {
        ledger.reportReached();
      }
      if (ledger.hasManyUnused()) {
        // Opens new accounts in both directions, so that both sides can drop the unused pods.
        partners.values().forEach(partner -> {
          answer(partner);
          sendView(partner);
        });
      }
      partners.values().forEach(this::checkSilent);
      settle();
    }
  }

  /**
   * Ends the accounts of a peer that has been silent for so long that its lease and requests must
   * be over.
   */
  private void checkSilent(PeerRevisionState partner) {
    long longest = ledger.longestUse().dividedBy(TICK);
    boolean isLong = partner.silentTicks() > longest;
    if (isLong && ledger.ended(partner) && partner.connected) {
      partner.openLending(0);
      sendView(partner);
    }
    // Counted only from when it left, because a member uses its own pods without a lease.
    boolean hasLeft = !partner.connected && !owners.members().contains(partner.address());
    partner.expired = partner.leftTicks(hasLeft) > longest && isLong;
  }

  /**
   * The time after a peer's last beat at which none of its requests can still run on borrowed
   * permits. <b>Threads.</b> Any may call.
   */
  Duration longestUse() {
    return ledger.longestUse();
  }

  @Override
  public SharedPermitsView view() {
    if (!isActive()) {
      return SharedPermitsView.ALONE;
    }
    var pods = ledger.pods().stream()
        .map(pod -> new PodShare(pod.pod, pod.owner, pod.owned,
            permits.held(pod.pod), pod.lent()))
        .sorted(Comparator.comparing(PodShare::pod)).toList();
    return new SharedPermitsView(owners.allLend() ? Sharing.OWNED : Sharing.SLICES,
        owners.members(),
        !owners.allLend() || allAgree(), pods);
  }
}
