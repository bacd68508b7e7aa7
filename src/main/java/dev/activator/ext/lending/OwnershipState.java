package dev.activator.ext.lending;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.policy.PodSharding;
import dev.activator.throttle.PermitSharing.SharedPods;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which activator owns which pod of a revision, as this activator computes it from the activators
 * and the pods that it knows. An event leads to the next state, and to what {@link RevisionLending}
 * has to do.
 *
 * @param own the address of this activator
 * @param isLinked whether this activator can have links to others
 * @param listed the sorted addresses of the revision's public Endpoints
 * @param hasView whether this activator has been listed, and knew all activators of that list. Of
 *     two activators, the one that is listed later then knows the other, and uses no pod that the
 *     other has not yielded
 * @param hadAll whether this activator is known to have been the only one since it was listed
 * @param view the number of the view of this epoch; null before the first
 */
record OwnershipState(String own, boolean isLinked, KnownActivators known, List<String> listed,
    SharedPods pods, boolean hasView, boolean hadAll, boolean isClosed, PodSharding owners,
    @Nullable Long view) {
  /** The view if pods are divided by Knative's rule, because an activator is not known to lend. */
  static final long SLICED = 0;
  /**
   * The view if pods are divided so because another activator does it. A third one does not follow
   * this activator.
   */
  static final long SLICED_ELSEWHERE = -1;

  sealed interface Event {
    /** The activators of the cluster have changed, or what is known of them. */
    record ActivatorsChanged(KnownActivators now) implements Event {}

    /** The public Endpoints of the revision have changed. */
    record Listed(List<String> addresses) implements Event {}

    record PodsChanged(SharedPods now) implements Event {}

    /** Requests have waited for a list of activators with this one for too long. */
    record WaitedForList() implements Event {}

    /** The actions of the last event are done, and requests may have been divided again. */
    record SubsetUpdated() implements Event {}

    /** @param slicing the peers whose last view was {@link #SLICED} */
    record Divide(Set<String> slicing) implements Event {}

    record Closed() implements Event {}
  }

  enum Action {
    /** Warn that no list had this activator, and do not wait for one for other revisions. */
    GO_ON_UNLISTED,
    /** Wait no longer for a list of activators. */
    STOP_WAITING_FOR_LIST,
    /** Own all pods, because this activator was the only one. */
    OWN_ALL_PODS,
    /** Own no pod until the next acquisition. */
    OWN_NO_PODS,
    /** Divide pods again, because sharing was switched on or off. */
    UPDATE_SUBSET,
    /** Continue with {@link Event.SubsetUpdated}. */
    CONTINUE,
    /** Continue with {@link Event.Divide}. */
    DIVIDE,
    /** Use the new owners. */
    UPDATE_OWNERS,
    /** Send the view to all peers, and answer theirs. */
    BEGIN_EPOCH,
    /** Acquire and give back pods and permits, in a later task. */
    SETTLE,
    /** Nothing is lent or borrowed. */
    STOP_LENDING
  }

  /** @param actions in order */
  record Step(OwnershipState state, List<Action> actions) {
    boolean has(Action action) {
      return actions.contains(action);
    }
  }

  OwnershipState {
    listed = List.copyOf(listed);
  }

  static OwnershipState initial(String own, boolean isLinked, SharedPods pods) {
    return new OwnershipState(own, isLinked, KnownActivators.UNKNOWN, List.of(), pods, false, false,
        false, PodSharding.NONE, null);
  }

  /** Whether permits are shared with other activators. */
  boolean isActive() {
    return !isClosed && (awaitsList() || known.isKnown() && !known.isAlone());
  }

  /**
   * Whether other activators may use the revision's pods without this one's knowledge, so that it
   * must not use any.
   */
  boolean awaitsList() {
    return !hasView && pods.exact() && isLinked;
  }

  Step on(Event event) {
    return switch (event) {
      case Event.ActivatorsChanged(var now) -> {
        boolean wasAlone = known.isKnown() && known.isAlone() && hadAll;
        var next = seen(now, listed);
        yield next.continued(this, next.isActive() != isActive() && wasAlone);
      }
      case Event.Listed(var addresses) -> {
        var next = seen(known, addresses);
        boolean onlyThis = addresses.equals(List.of(own));
        yield next.withHadAll(!next.isActive() && (onlyThis || hadAll && addresses.contains(own)))
            .continued(this, false);
      }
      case Event.WaitedForList() -> {
        var next = with(known, listed, pods, true);
        var step = next.continued(this, false);
        var actions = new ArrayList<>(step.actions());
        if (awaitsList()) {
          actions.addFirst(Action.GO_ON_UNLISTED);
        }
        yield new Step(next, List.copyOf(actions));
      }
      case Event.PodsChanged(var now) -> {
        var next = with(known, listed, now, hasView);
        // The revision has lost its queue-proxy, or got one.
        yield next.isActive() != isActive()
            ? next.step(Action.UPDATE_SUBSET)
            : next.isActive() ? next.step(Action.DIVIDE) : next.step();
      }
      case Event.SubsetUpdated() -> isActive()
          ? step(Action.DIVIDE, Action.SETTLE)
          // The other activators may have left the list before it was known that they are gone.
          : withHadAll(hadAll || listed.equals(List.of(own))).step(Action.STOP_LENDING);
      case Event.Divide(var slicing) -> divided(slicing);
      case Event.Closed() -> new OwnershipState(own, isLinked, known, listed, pods, hasView, hadAll,
          true, owners, view).step();
    };
  }

  private Step step(Action... actions) {
    return new Step(this, List.of(actions));
  }

  private OwnershipState with(KnownActivators activators, List<String> addresses, SharedPods now,
      boolean hasViewNow) {
    return new OwnershipState(own, isLinked, activators, addresses, now, hasViewNow, hadAll,
        isClosed, owners, view);
  }

  private OwnershipState withHadAll(boolean now) {
    return new OwnershipState(own, isLinked, known, listed, pods, hasView, now, isClosed, owners,
        view);
  }

  private OwnershipState seen(KnownActivators activators, List<String> addresses) {
    return with(activators, addresses, pods, hasView || activators.isKnown()
        && addresses.contains(own) && activators.addresses().containsAll(addresses));
  }

  private Step continued(OwnershipState before, boolean ownsAll) {
    var actions = new ArrayList<Action>();
    if (hasView) {
      actions.add(Action.STOP_WAITING_FOR_LIST);
    }
    if (ownsAll) {
      actions.add(Action.OWN_ALL_PODS);
    }
    if (isActive() != before.isActive()) {
      actions.add(Action.UPDATE_SUBSET);
    }
    actions.add(Action.CONTINUE);
    return new Step(this, List.copyOf(actions));
  }

  /** Computes the owners of the pods, and begins an epoch if the view has changed. */
  private Step divided(Set<String> slicing) {
    var dividing = dividing();
    boolean isMixed = dividing.stream().anyMatch(known.notLending()::contains);
    boolean allLend = !isMixed && dividing.stream().noneMatch(slicing::contains);
    var nextOwners = new PodSharding(dividing, allLend, pods.pods());
    long nextView = isMixed
        ? SLICED
        : !allLend
            ? SLICED_ELSEWHERE
            : pods.limit() > 0 ? nextOwners.view() : nextOwners.viewWithoutLimit();
    var actions = new ArrayList<Action>();
    if (!nextOwners.equals(owners)) {
      actions.add(Action.UPDATE_OWNERS);
    }
    if (view == null || view != nextView) {
      if (allLend && !owners.allLend() || pods.limit() == 0) {
        // Slices may have overlapped; and without a limit all activators use all pods.
        actions.add(Action.OWN_NO_PODS);
      }
      actions.add(Action.BEGIN_EPOCH);
    }
    return new Step(new OwnershipState(own, isLinked, known, listed, pods, hasView, hadAll,
        isClosed, nextOwners, nextView), List.copyOf(actions));
  }

  /**
   * The activators that share the revision. They stay the same while the Endpoints have pods
   * instead of activators.
   */
  private List<String> dividing() {
    if (listed.contains(own) || listed.stream().anyMatch(known::has)) {
      return List.copyOf(new TreeSet<>(listed));
    }
    return owners.activators().isEmpty()
        ? List.copyOf(new TreeSet<>(known.addresses()))
        : owners.activators();
  }

  /** Whether a peer with this view divides the pods as this activator does. */
  boolean isSameView(long other) {
    return view != null && (other == view || isSliced(other) && isSliced(view));
  }

  private static boolean isSliced(long view) {
    return view == SLICED || view == SLICED_ELSEWHERE;
  }

  boolean isOwn(@Nullable String owner) {
    return own.equals(owner);
  }

  /** Whether all activators that may use pods are known: peers, or activators that do not lend. */
  boolean areAllKnown() {
    return !awaitsList() && areKnown(known.addresses()) && areKnown(owners.activators());
  }

  private boolean areKnown(Collection<String> addresses) {
    for (var address : addresses) {
      if (!address.equals(own) && !known.notLending().contains(address)
          && !known.isPeer(address)) {
        return false;
      }
    }
    return true;
  }

  /**
   * The activators that this one knows of.
   *
   * @param isKnown false until the cluster has listed them once
   * @param addresses of all activators, including this one
   * @param peers processes that said hello and have not ended
   * @param notLending addresses of activators that do not lend, or never answered
   */
  record KnownActivators(boolean isKnown, Set<String> addresses, Set<PeerId> peers,
      Set<String> notLending) {
    static final KnownActivators UNKNOWN = new KnownActivators(false, Set.of(), Set.of(), Set.of());

    KnownActivators {
      addresses = Set.copyOf(addresses);
      peers = Set.copyOf(peers);
      notLending = Set.copyOf(notLending);
    }

    /** Whether this is the only activator, so that permits need not be shared. */
    boolean isAlone() {
      return addresses.size() <= 1 && peers.isEmpty();
    }

    boolean has(String address) {
      return addresses.contains(address) || isPeer(address);
    }

    /** Whether a peer has this address. A plain loop, because it runs at each change of a queue. */
    boolean isPeer(String address) {
      for (var peer : peers) {
        if (peer.address().equals(address)) {
          return true;
        }
      }
      return false;
    }
  }
}
