package dev.activator.throttle;

import dev.activator.throttle.PodBoundRequests.WaitsFor;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.PodChoice.Wanted;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which permit a request of one revision gets, and where it waits: each request is placed and granted here. Most have no
 * choice of pods, and get the one that the balancer chooses.
 *
 * <p><b>Threads.</b> The revision's loop; any for {@link #use}, {@link #of} and {@link #tryAcquire}.
 */
final class PodChoices {
  private final RevisionId id;
  private final RevisionPermits permits;
  private final OrderedRequests requests;
  private final PodTenants tenants;
  private final Supplier<@Nullable List<Destination>> pods;
  /** Null for most revisions, whose balancer chooses the pods. */
  private volatile PodChoice.@Nullable Maker maker;
  /** The pods among which the queued requests have chosen. */
  private @Nullable List<Destination> chosenFrom = List.of();
  /** Whether pods were exclusive when they chose. */
  private boolean chosenExclusively;

  /**
   * @param pods those that requests may choose; null if requests are sent to a ClusterIP. Called on
   *     any thread
   */
  PodChoices(RevisionId id, RevisionPermits permits, OrderedRequests requests, PodTenants tenants,
      Supplier<@Nullable List<Destination>> pods) {
    this.id = id;
    this.permits = permits;
    this.requests = requests;
    this.tenants = tenants;
    this.pods = pods;
  }

  /**
   * @param now null if the balancer chooses the pods
   * @return whether requests begin to choose, or no longer do, or pods begin to be exclusive, or no
   *     longer are
   */
  boolean use(PodChoice.@Nullable Maker now) {
    boolean wereUsed = areUsed();
    boolean wereExclusive = areExclusive();
    maker = now;
    return wereUsed != areUsed() || wereExclusive != areExclusive();
  }

  boolean areUsed() {
    return maker != null;
  }

  /** Whether each pod serves one tenant at a time. */
  boolean areExclusive() {
    var its = maker;
    return its != null && its.isExclusive();
  }

  /** Null if the request has none, or pods are not exclusive. */
  private @Nullable Object tenantOf(@Nullable PodChoice choice) {
    return choice != null && areExclusive() ? choice.tenant() : null;
  }

  @Nullable PodChoice of(QueuedCaller caller) {
    var its = maker;
    return caller.choice(its == null ? null : its.of(caller));
  }

  /** Acquires a permit that no queued request can use; null if there is none. */
  @Nullable Permit tryAcquire(@Nullable PodChoice choice) {
    if (choice == null) {
      return permits.tryAcquire();
    }
    return switch (wanted(choice)) {
      case PodChoice.Any _ -> tryAcquireFor(choice, RevisionPermits.ANY_POD);
      case PodChoice.AnyOf(var some) -> tryAcquireFor(choice, some::contains);
      case PodChoice.Only(var pod) -> permits.tryAcquireAt(pod);
      case PodChoice.Gone _ -> null;
    };
  }

  private @Nullable Permit tryAcquireFor(PodChoice choice, Predicate<Destination> allowed) {
    return tenantOf(choice) instanceof Object tenant
        ? tenants.tryAcquire(tenant, choice, allowed)
        : permits.tryAcquireFor(choice, allowed);
  }

  private Wanted wanted(@Nullable PodChoice choice) {
    if (choice == null) {
      return PodChoice.ANY;
    }
    var now = pods.get();
    return now == null ? PodChoice.ANY : choice.wanted(now);
  }

  boolean isGone(QueuedRequest request) {
    return wanted(request.choice()) instanceof PodChoice.Gone;
  }

  /** Puts a request that is counted as queued in its place, or rejects it. */
  void place(QueuedRequest request) {
    place(request, wanted(request.choice()));
  }

  private void place(QueuedRequest request, Wanted wanted) {
    request.allowed = wanted instanceof PodChoice.AnyOf(var some) ? some : null;
    switch (wanted) {
      case PodChoice.Any _,PodChoice.AnyOf _ when tenantOf(
          request.choice()) instanceof Object tenant ->
        tenants.place(request, tenant);
      case PodChoice.Any _ -> requests.add(request);
      case PodChoice.AnyOf(var some) -> {
        requests.podBound().add(request, new WaitsFor.AnyOf(some));
        permits.leave();
      }
      case PodChoice.Only(var pod) -> {
        requests.podBound().add(request, new WaitsFor.Pod(pod));
        permits.leave();
      }
      case PodChoice.Gone _ -> {
        permits.leave();
        request.reject(new Rejection.PodGone(id));
      }
    }
  }

  /** Moves the queued requests whose choice is another now. */
  void onPods() {
    moveByChoice();
    // Last, because a request for which others of its tenant wait may be gone now.
    tenants.onPods();
  }

  private void moveByChoice() {
    var now = pods.get();
    boolean exclusive = areExclusive();
    if (now == chosenFrom && exclusive == chosenExclusively) {
      return;
    }
    boolean all = exclusive != chosenExclusively;
    chosenFrom = now;
    chosenExclusively = exclusive;
    boolean moved = false;
    for (var request : requests.choosing()) {
      var wanted = wanted(request.choice());
      request.allowed = wanted instanceof PodChoice.AnyOf(var some) ? some : null;
      if (all || wanted instanceof PodChoice.Gone || !isInPlace(request, wanted)) {
        if (request.waitsFor != null) {
          permits.enterAgain();
        }
        requests.remove(request);
        request.waitsFor = null;
        tenants.forget(request);
        place(request, wanted);
        moved = true;
      }
    }
    if (moved) {
      requests.sort();
    }
  }

  /** A request that waits for room on its tenant's pod stays there. */
  private static boolean isInPlace(QueuedRequest request, Wanted wanted) {
    return switch (wanted) {
      case PodChoice.Any _ ->
        request.waitsFor == null || request.waitsFor instanceof WaitsFor.TenantsPod;
      case PodChoice.AnyOf(var some) -> request.waitsFor instanceof WaitsFor.TenantsPod
          || new WaitsFor.AnyOf(some).equals(request.waitsFor);
      case PodChoice.Only(var pod) -> new WaitsFor.Pod(pod).equals(request.waitsFor);
      case PodChoice.Gone _ -> false;
    };
  }

  /** Call after a request was removed from the queue. */
  void removed(QueuedRequest request) {
    if (request.waitsFor == null) {
      permits.leave();
    }
    tenants.removed(request);
  }

  /** Grants a permit to the next request. Returns whether there was one that it can use. */
  boolean grantNext(long nowNanos) {
    if (tenants.grantNext(nowNanos)) {
      return true;
    }
    if (!permits.hasRoom()) {
      return false;
    }
    var next = requests.next(nowNanos, permits::withRoom);
    if (next != null && tenants.movesToItsPod(next)) {
      return true;
    }
    var permit = next == null ? null : acquire(next);
    if (next == null || permit == null) {
      return false;
    }
    requests.remove(next);
    next.grant(permit, nowNanos);
    removed(next);
    return true;
  }

  private @Nullable Permit acquire(QueuedRequest request) {
    var choice = request.choice();
    if (request.waitsFor instanceof WaitsFor.Pod(var only)) {
      return permits.acquireAt(only);
    }
    if (choice == null) {
      return permits.acquireForNext();
    }
    return tenantOf(choice) instanceof Object tenant
        ? tenants.acquire(tenant, choice, request::mayRunOn)
        : permits.acquireFor(choice, request::mayRunOn);
  }
}
