package dev.activator.ext.lending;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.OwnershipState.KnownActivators;
import dev.activator.throttle.ThrottleView.SharedPermitsView;
import dev.activator.throttle.ThrottleView.SharedPermitsView.LostPeer;
import dev.activator.throttle.ThrottleView.SharedPermitsView.PodShare;
import dev.activator.throttle.ThrottleView.SharedPermitsView.Sharing;
import dev.activator.ext.lending.OwnershipState.Action;
import dev.activator.ext.lending.OwnershipState.Event;
import dev.activator.ext.lending.PeerMessage.OfRevision;
import dev.activator.ext.lending.PeerMessage.View;
import dev.activator.ext.lending.PeerMessage.Yield;
import dev.activator.ext.lending.policy.PodSharding;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.PermitSharing.LocalQueue;
import dev.activator.throttle.PermitSharing.LocalRevision;
import dev.activator.throttle.PermitSharing.PodPermits;
import dev.activator.throttle.PermitSharing.SharedPods;
import dev.activator.throttle.PermitSharing.RevisionSharing;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
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
  /**
   * How long to wait for a list of activators with this one. Lists come within milliseconds, so
   * after this time the requests must come another way.
   */
  private static final Duration FIRST_VIEW = Duration.ofSeconds(10);
  private static final Logger log = LoggerFactory.getLogger(RevisionLending.class);

  private final RevisionId id;
  private final Loop loop;
  private final PodPermits permits;
  private final LocalQueue queue;
  private final PermitLending lending;
  private final RevisionPermitLedger ledger;
  private final Map<PeerId, PeerRevisionState> peers = new LinkedHashMap<>();
  private final ResettableTimer ticks;
  private final ResettableTimer firstView;
  private OwnershipState state;
  /** 0 before the first. */
  private long epoch;
  private volatile int queuedElsewhere;
  private volatile int lent;
  private volatile int borrowed;
  private boolean settling;

  /** @param own the address of this activator */
  RevisionLending(LocalRevision revision, String own, SharedPods pods, PermitLending lending) {
    this.id = revision.id();
    this.loop = revision.loop();
    this.permits = revision.permits();
    this.queue = revision.queue();
    this.lending = lending;
    this.state = OwnershipState.initial(own, lending.isStarted(), pods);
    this.ledger = new RevisionPermitLedger(revision, lending, peers, pods, this::onQueue);
    this.ticks = new ResettableTimer(loop, this::tick);
    this.firstView = new ResettableTimer(loop, () -> apply(new Event.WaitedForList()));
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
    return state.isActive();
  }

  private void apply(Event event) {
    perform(state.on(event));
  }

  private void perform(OwnershipState.Step step) {
    state = step.state();
    step.actions().forEach(this::perform);
  }

  private void perform(Action action) {
    switch (action) {
      case GO_ON_UNLISTED -> {
        log.warn(
            "{}: {} s after its first request no list of activators has {}: requests are sent to its"
                + " pods without regard to other activators",
            id, FIRST_VIEW.toSeconds(), state.own());
        lending.unlisted(true);
      }
      case STOP_WAITING_FOR_LIST -> firstView.cancel();
      case OWN_ALL_PODS -> ledger.own(state.pods().pods());
      case OWN_NO_PODS -> ledger.own(_ -> false);
      case UPDATE_SUBSET -> {
        queuedElsewhere = 0;
        // Leads back to onPods.
        queue.updateSubset();
      }
      case CONTINUE -> apply(new Event.SubsetUpdated());
      case DIVIDE -> divide();
      case UPDATE_OWNERS -> ledger.owners(state.owners()::owner);
      case BEGIN_EPOCH -> {
        epoch = lending.nextNumber();
        peers.values().forEach(peer -> {
          peer.agreed = false;
          peer.closeAccounts();
          sendView(peer);
        });
        peers.values().forEach(this::answer);
      }
      case SETTLE -> onQueue();
      case STOP_LENDING -> {
        lent = 0;
        borrowed = 0;
      }
    }
  }

  /** Returns whether an epoch began; then all views have been answered. */
  private boolean divide() {
    var slicing = peers.values().stream().filter(peer -> peer.slices)
        .map(PeerRevisionState::address).collect(Collectors.toSet());
    var step = state.on(new Event.Divide(slicing));
    perform(step);
    return step.has(Action.BEGIN_EPOCH);
  }

  @Override
  public void onPods(SharedPods now) {
    var step = state.on(new Event.PodsChanged(now));
    if (step.has(Action.DIVIDE)) {
      var found = ledger.setPods(now);
      perform(step);
      settle();
      if (state.owners().allLend()) {
        ledger.borrower().reportFound(found);
      }
    } else {
      perform(step);
    }
  }

  @Override
  public void onActivators(List<String> addresses) {
    if (lending.isUnlisted() && addresses.contains(state.own())) {
      lending.unlisted(false);
    }
    apply(new Event.Listed(addresses));
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
    apply(new Event.Closed());
    ticks.cancel();
    firstView.cancel();
    ledger.close();
    lending.closed(id, this);
  }

  void onActivatorsChanged(KnownActivators now) {
    if (lending.isUnlisted() && state.listed().contains(state.own())) {
      lending.unlisted(false);
    }
    apply(new Event.ActivatorsChanged(now));
  }

  /** Adds a peer that existed before this revision. */
  void addEarlierPeer(PeerActivator activator) {
    onConnected(activator);
    peer(activator).wasAnsweredWithoutTheRevision();
    if (!activator.isConnected()) {
      onDisconnected(activator.id());
    }
  }

  void onConnected(PeerActivator activator) {
    var peer = peer(activator);
    peer.connected = true;
    peer.expired = false;
    peer.closeAccounts();
    peer.view = null;
    if (isActive()) {
      sendView(peer);
      onQueue();
    }
  }

  private PeerRevisionState peer(PeerActivator activator) {
    return peers.computeIfAbsent(activator.id(),
        _ -> new PeerRevisionState(activator, loop.nanoTime()));
  }

  void onDisconnected(PeerId process) {
    var peer = peers.get(process);
    if (peer != null) {
      peer.connected = false;
      peer.lostNanos = loop.nanoTime();
      peer.view = null;
      peer.closeAccounts();
      onQueue();
    }
  }

  void onEnded(PeerId process) {
    var peer = peers.remove(process);
    if (peer != null) {
      peer.connected = false;
      peer.closeAccounts();
      ledger.ended(peer);
      onQueue();
    }
  }

  void onReceived(PeerActivator from, OfRevision message) {
    var peer = peers.get(from.id());
    if (peer == null || !peer.connected || state.isClosed()) {
      return;
    }
    switch (message) {
      case View view -> viewed(peer, view);
      case Yield yield -> agreed(peer, yield);
      case PeerMessage.Want want -> ledger.wants(peer, want);
      case PeerMessage.Grant grant ->
        ledger.granted(peer, grant, pod -> mayBeAcquiredByAnother(pod, peer));
      case PeerMessage.Return back -> ledger.returned(peer, back);
      case PeerMessage.Recall recall -> ledger.recalled(peer, recall);
      case PeerMessage.Reach reach -> {
        if (state.owners().allLend()) {
          ledger.reached(peer, reach, pod -> state.isOwn(state.owners().owner(pod)));
        }
      }
    }
    onQueue();
  }

  private void viewed(PeerRevisionState peer, View now) {
    if (peer.view == null || peer.view.epoch() != now.epoch()) {
      // The peer has closed the accounts, and may not have had the revision when it got our view.
      peer.closeAccounts();
      peer.began(now.epoch());
      sendView(peer);
    }
    peer.view = now;
    peer.slices = now.view() == OwnershipState.SLICED;
    if (!isActive() || !divide()) {
      answer(peer);
    }
  }

  /**
   * Whether no further permits of the pod may be borrowed, because another activator got an answer
   * how many are used here, and may rely on that.
   */
  private boolean mayBeAcquiredByAnother(PodLoans pod, PeerRevisionState lender) {
    if (state.pods().exact() && state.owners().allLend()) {
      for (var peer : peers.values()) {
        if (peer != lender && peer.mayAcquire(pod, state.owners())) {
          return true;
        }
      }
    }
    return false;
  }

  private void sendView(PeerRevisionState peer) {
    if (peer.connected && epoch != 0) {
      lending.send(peer.activator, new View(id, epoch, Objects.requireNonNull(state.view())));
    }
  }

  /**
   * Answers the view of a peer if this activator has the same view. Call once for each view that is
   * received or begun.
   */
  private void answer(PeerRevisionState peer) {
    var requested = peer.view;
    if (requested == null || !peer.connected || !isActive()
        || !state.isSameView(requested.view())) {
      return;
    }
    long account = lending.nextNumber();
    var inUse = new HashMap<Destination, Integer>();
    if (state.owners().allLend() && state.pods().limit() > 0) {
      permits.running().keySet().forEach(ledger::pod);
    }
    ledger.pods().stream().filter(pod -> isOf(peer, pod)).forEach(pod -> {
      int kept = ledger.giveUp(pod, peer, account, state.owners().allLend());
      if (kept > 0) {
        inUse.put(pod.pod, kept);
      }
    });
    peer.openBorrowing(account);
    peer.answered(state.owners().allLend() ? state.owners() : PodSharding.NONE);
    lending.send(peer.activator, new Yield(id, requested.epoch(), account, inUse));
  }

  private boolean isOf(PeerRevisionState peer, PodLoans pod) {
    return state.owners().allLend()
        ? peer.address().equals(pod.owner)
        : pod.lender() == peer;
  }

  private void agreed(PeerRevisionState peer, Yield yield) {
    if (yield.account() == 0) {
      // The peer does not have the revision, so it does not rely on an answer.
      peer.answered(PodSharding.NONE);
    }
    if (yield.epoch() == epoch) {
      peer.agreed = true;
      peer.openLending(yield.account());
      ledger.opened(peer, yield, pod -> !state.owners().allLend() || state.isOwn(pod.owner));
    }
  }

  private void settle() {
    if (state.awaitsList() && queue.queued() > 0) {
      firstView.within(lending.isUnlisted() ? Duration.ZERO : FIRST_VIEW);
    }
    if (state.owners().allLend()) {
      boolean allowed = !state.pods().exact() || allAgree();
      ledger.acquire(pod -> allowed && state.isOwn(pod.owner) || isSharedWithoutLink(pod));
    } else {
      ledger.own(pod -> !state.awaitsList() && state.pods().slice().contains(pod));
    }
    if (state.owners().allLend()) {
      ledger.pods().forEach(this::keepUntilRequested);
    }
    ledger.settle(pod -> state.isOwn(pod.owner));
    queuedElsewhere = state.owners().allLend() ? ledger.lender().queuedElsewhere() : 0;
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
    return !state.pods().exact() && state.pods().slice().contains(pod.pod)
        && !state.isOwn(pod.owner)
        && peers.values().stream()
            .noneMatch(peer -> peer.connected && peer.address().equals(pod.owner));
  }

  /**
   * Keeps a pod that its next owner has not requested yet, for as long as a borrower's lease. After
   * that time the next owner does not wait for this activator.
   */
  private void keepUntilRequested(PodLoans pod) {
    pod.until = null;
    if (!pod.owned || state.isOwn(pod.owner) || isSharedWithoutLink(pod)) {
      return;
    }
    for (var peer : peers.values()) {
      if (peer.address().equals(pod.owner)) {
        pod.until = peer.activator.lease();
        boolean isNew = loop.nanoTime() - peer.sinceNanos < PeerActivator.LEASE.toNanos();
        pod.owned &= isNew || !pod.until.isOver(loop.nanoTime());
      }
    }
  }

  private boolean allAgree() {
    for (var peer : peers.values()) {
      if (!peer.agreed && !peer.expired
          && !state.known().notLending().contains(peer.address())) {
        return false;
      }
    }
    for (var process : state.known().peers()) {
      if (!peers.containsKey(process)) {
        return false;
      }
    }
    return state.areAllKnown();
  }

  private void tick() {
    if (isActive()) {
      lending.counts().savedSeconds().add(ledger.runningBeyondOwnPods());
      ledger.returnIdle();
      if (state.owners().allLend()) {
        ledger.borrower().reportReached(ledger.pods());
      }
      if (ledger.hasManyUnused()) {
        // Opens new accounts in both directions, so that both sides can drop the unused pods.
        peers.values().forEach(peer -> {
          answer(peer);
          sendView(peer);
        });
      }
      peers.values().forEach(this::checkSilent);
      settle();
    }
  }

  /**
   * Ends the accounts of a peer that has been silent for so long that permits are no longer
   * reserved for it.
   */
  private void checkSilent(PeerRevisionState peer) {
    long longest = ledger.longestUse().dividedBy(TICK);
    int silent = peer.countSilence();
    if (silent > ledger.reservation().dividedBy(TICK) && ledger.ended(peer)
        && peer.connected) {
      peer.openLending(0);
      sendView(peer);
    }
    if (state.pods().exact() && peer.isSilent()) {
      // It may still receive messages, and can then use its pods while the link is lost.
      ledger.returnTo(peer);
    }
    // Counted only from when it left, because an owner uses its own pods without a lease.
    boolean hasLeft = !peer.connected && !state.owners().activators().contains(peer.address());
    peer.expired = peer.countLeft(hasLeft) > longest && silent > longest;
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
            permits.permits(pod.pod), pod.lent()))
        .sorted(Comparator.comparing(PodShare::pod)).toList();
    return new SharedPermitsView(state.owners().allLend() ? Sharing.OWNED : Sharing.SLICES,
        state.owners().activators(), !state.owners().allLend() || allAgree(), pods,
        peers.values().stream().filter(peer -> !peer.connected).map(this::lost).toList());
  }

  private LostPeer lost(PeerRevisionState peer) {
    int lentTo = ledger.lentTo(peer);
    long longest = ledger.longestUse().dividedBy(TICK);
    long silent = peer.silentTicks();
    long left = lentTo == 0 ? 0 : ledger.reservation().dividedBy(TICK) - silent;
    boolean hasLeft = !state.owners().activators().contains(peer.address());
    if (state.pods().exact() && hasLeft && !peer.agreed && !peer.expired) {
      left = Math.max(left, longest - Math.min(silent, peer.leftTicks()));
    }
    return new LostPeer(peer.address(), Duration.ofNanos(loop.nanoTime() - peer.lostNanos), lentTo,
        Duration.ofSeconds(Math.max(0, left)));
  }
}
