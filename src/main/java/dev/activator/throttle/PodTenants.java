package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.revision.PodTransport;
import dev.activator.throttle.PodBoundRequests.WaitsFor.AnyOf;
import dev.activator.throttle.PodBoundRequests.WaitsFor.TenantsPod;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which tenant has which pod of a revision whose pods serve one tenant at a time. Each pod has one
 * permit, which a tenant takes with its first request and keeps until none of its requests runs. So
 * lending permits is lending whole pods.
 *
 * <p>A tenant has one pod here. Of a tenant without one, a single request waits in the queue for any
 * pod that it may use. Its other requests wait behind that one, and then for room on the tenant's pod. If
 * the next of them may not use that pod, they wait until the tenant has none.
 *
 * <p>No wake-up is lost: a request that ends first makes room, and then reads the number of queued
 * requests; one that is queued tries to get room after it is counted.
 *
 * <p><b>Threads.</b> The revision's loop; any for {@link #tryAcquire} and permits.
 */
final class PodTenants {
  private final RevisionPermits permits;
  private final OrderedRequests requests;
  private final IntSupplier limit;
  private final ConcurrentMap<Object, Tenancy> tenancies = new ConcurrentHashMap<>();
  /** Those that may have room for requests that wait, or whose pod is gone. */
  private final Queue<Tenancy> changed = new ConcurrentLinkedQueue<>();
  /** Of each tenant that waits for a pod, the request that gets it. */
  private final ConcurrentMap<Object, QueuedRequest> first = new ConcurrentHashMap<>();

  /** @param limit of the requests that a tenant may run on its pod at once */
  PodTenants(RevisionPermits permits, OrderedRequests requests, IntSupplier limit) {
    this.permits = permits;
    this.requests = requests;
    this.limit = limit;
  }

  /** Acquires a permit that no queued request can use; null if there is none. */
  @Nullable Permit tryAcquire(Object tenant, PodChoice choice, Predicate<Destination> allowed) {
    if (first.containsKey(tenant) || permits.isQueuingFor(new TenantsPod(tenant))) {
      return null;
    }
    var its = tenancies.get(tenant);
    if (its != null && its.isOpen()) {
      return allowed.test(its.pod.destination()) ? its.tryJoin() : null;
    }
    var pod = permits.tryAcquireFor(choice, allowed);
    var permit = pod == null ? null : begin(tenant, pod, allowed);
    its = tenancies.get(tenant);
    if (its != null && permits.queued() != 0) {
      // A request of the tenant may have been queued meanwhile.
      changed.add(its);
      permits.released(false);
    }
    return permit;
  }

  /** Acquires an idle pod for a queued request; null if there is none. */
  @Nullable Permit acquire(Object tenant, PodChoice choice, Predicate<Destination> allowed) {
    var pod = permits.acquireFor(choice, allowed);
    return pod == null ? null : begin(tenant, pod, allowed);
  }

  /**
   * Lets a queued request wait for room on its tenant's pod, if the tenant has one meanwhile. Returns
   * whether it does.
   */
  boolean movesToItsPod(QueuedRequest request) {
    var choice = request.choice();
    var tenant = choice == null ? null : choice.tenant();
    var its = tenant == null || first.get(tenant) != request ? null : tenancies.get(tenant);
    if (tenant == null || its == null || !its.isOpen()) {
      return false;
    }
    if (request.waitsFor != null) {
      permits.enterAgain();
    }
    requests.remove(request);
    first.remove(tenant);
    requests.podBound().addInOrder(request, new TenantsPod(tenant));
    permits.leave();
    changed.add(its);
    return true;
  }

  /** Returns null if the tenant has another pod meanwhile, where the request cannot run now. */
  private @Nullable Permit begin(Object tenant, PodTracker pod, Predicate<Destination> allowed) {
    var now = new Tenancy(tenant, pod);
    var other = tenancies.putIfAbsent(tenant, now);
    if (other != null) {
      // Another thread was faster, or the tenant's last pod is gone while requests run there.
      var joined = allowed.test(other.pod.destination()) ? other.tryJoin() : null;
      if (joined != null || other.isOpen()) {
        pod.release(Ending.UNCOUNTED);
        return joined;
      }
      tenancies.put(tenant, now);
    }
    return now.new Room();
  }

  /** Puts a request that is counted as queued in its place. */
  void place(QueuedRequest request, Object tenant) {
    var its = tenancies.get(tenant);
    boolean hasPod = its != null && its.isOpen();
    if (hasPod || first.containsKey(tenant)) {
      requests.podBound().add(request, new TenantsPod(tenant));
      permits.leave();
      if (hasPod) {
        changed.add(its);
      }
    } else {
      first.put(tenant, request);
      addFirst(request);
    }
  }

  /** Adds a request, which is counted as queued, that waits for a pod that no tenant has. */
  private void addFirst(QueuedRequest request) {
    request.waitsFor = null;
    var allowed = request.allowed;
    if (allowed == null) {
      requests.addInOrder(request);
    } else {
      requests.podBound().addInOrder(request, new AnyOf(allowed));
      permits.leave();
    }
  }

  /**
   * Grants a request room on the pod that its tenant has. Returns whether one waited for that and
   * there was room.
   */
  boolean grantNext(long nowNanos) {
    for (var its = changed.peek(); its != null; its = changed.peek()) {
      var waits = first.get(its.tenant);
      var next = waits == null ? requests.podBound().firstOf(its.tenant, requests.order()) : waits;
      var permit = next == null || !next.mayRunOn(its.pod.destination()) ? null : its.tryJoin();
      if (next != null && permit != null) {
        requests.remove(next);
        next.grant(permit, nowNanos);
        first.remove(its.tenant, next);
        if (next.waitsFor == null) {
          permits.leave();
        }
        return true;
      }
      // A request that has ended meanwhile has added it again.
      changed.remove();
      promote(its.tenant);
    }
    return false;
  }

  /** If a tenant's requests wait for a pod that it no longer has, the first of them waits for any pod. */
  private void promote(Object tenant) {
    var its = tenancies.get(tenant);
    var next = first.containsKey(tenant) || its != null && its.isOpen()
        ? null
        : requests.podBound().firstOf(tenant, requests.order());
    if (next != null) {
      permits.enterAgain();
      requests.remove(next);
      first.put(tenant, next);
      addFirst(next);
    }
  }

  /** Lets the next request of a tenant run, or wait for any pod. */
  private void next(Object tenant) {
    var its = tenancies.get(tenant);
    if (its != null) {
      changed.add(its);
    } else {
      promote(tenant);
    }
  }

  /** Call when the pods have changed. */
  void onPods() {
    first.keySet().forEach(this::next);
    requests.podBound().tenants().forEach(this::next);
  }

  /** Call for a request that has got a pod, or has left the queue. The next may use other pods. */
  void removed(QueuedRequest request) {
    var tenant = forget(request);
    if (tenant == null && request.waitsFor instanceof TenantsPod(var awaited)) {
      tenant = awaited;
    }
    if (tenant != null) {
      next(tenant);
      permits.released(false);
    }
  }

  /** Returns the tenant for which the request waited; null if it was not the one that does. */
  @Nullable Object forget(QueuedRequest request) {
    var choice = request.choice();
    var tenant = choice == null ? null : choice.tenant();
    return tenant != null && first.remove(tenant, request) ? tenant : null;
  }

  /** A pod that a tenant has. */
  private final class Tenancy {
    private final Object tenant;
    private final PodTracker pod;
    private final AtomicInteger running = new AtomicInteger(1);

    Tenancy(Object tenant, PodTracker pod) {
      this.tenant = tenant;
      this.pod = pod;
    }

    /** Whether further requests may run on the pod, though there may be no room now. */
    boolean isOpen() {
      return running.get() > 0 && pod.isOpen();
    }

    @Nullable Permit tryJoin() {
      int max = limit.getAsInt();
      int now = running.get();
      while (now > 0 && now < max && pod.isOpen()) {
        if (running.compareAndSet(now, now + 1)) {
          return new Room();
        }
        now = running.get();
      }
      return null;
    }

    private void leave(Ending ending) {
      boolean ended = running.decrementAndGet() == 0;
      if (ended) {
        tenancies.remove(tenant, this);
      }
      if (permits.queued() > 0) {
        changed.add(this);
      }
      if (ended) {
        pod.release(ending);
      } else {
        permits.released(false);
      }
    }

    /** The right to run one request on the pod. */
    private final class Room implements Permit {
      @Override
      public Destination destination() {
        return pod.destination();
      }

      @Override
      public boolean isPod() {
        return pod.isPod();
      }

      @Override
      public PodTransport transport() {
        return pod.transport();
      }

      @Override
      public boolean isWithdrawn() {
        return pod.isWithdrawn();
      }

      @Override
      public void release(Ending ending) {
        leave(ending);
      }

      @Override
      public @Nullable QueueEntry retry(QueuedCaller caller, boolean connected) {
        return permits.owner().retry(this, caller, connected);
      }
    }
  }
}
