package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import dev.activator.throttle.policy.ActivatorIndex;
import dev.activator.throttle.policy.Balancer;
import dev.activator.throttle.policy.Loads;
import dev.activator.throttle.policy.Subset;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which request of one revision runs when, and where. A request that finds a permit runs at once;
 * one that does not is queued, and a permit that comes back goes to the head of the queue.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. The queue and what is known of the revision belong to
 * {@code loop}; only {@link Permits} is shared.
 *
 * <p>
 * <b>Errors.</b> None are thrown. Who will not run is told why.
 *
 * <p>
 * <b>Source.</b> {@code revisionThrottler} in Knative Serving's {@code throttler.go}, which has a
 * semaphore for the revision and one for each pod, and lets a newcomer take what was freed for
 * another. Here there is one structure and one order.
 */
final class RevisionThrottler {
  private static final Logger log = LoggerFactory.getLogger(RevisionThrottler.class);

  /** Permits handed out before other tasks of the loop have a turn. */
  private static final int GRANTS_A_TURN = 256;

  private final RevisionId id;
  private final Loop loop;
  private final Permits permits;
  private final LinkedHashSet<QueuedRequest> queue = new LinkedHashSet<>();
  private final AtomicBoolean wakeUnderWay = new AtomicBoolean();
  private volatile @Nullable QueuedRequest head;
  private volatile Revision revision;
  private volatile int queueBound;

  private HealthyDestinations healthy;
  private ActivatorIndex activator = ActivatorIndex.UNKNOWN;
  private Subset subset = Subset.NONE;
  private @Nullable StartFailure lastFailure;
  private boolean gone;

  RevisionThrottler(Loop loop, Revision revision, int queueBound, RandomGenerator random) {
    this.id = revision.id();
    this.loop = loop;
    this.permits = new Permits(random, this::wake);
    this.revision = revision;
    this.queueBound = queueBound;
    this.healthy = HealthyDestinations.pods(id, Destinations.NONE);
    this.lastFailure = revision.startFailure();
  }

  /** A permit at once, or a place in the queue. */
  Admission admit(Waiter waiter) {
    var permit = permits.tryAcquire();
    return permit != null ? permit : enqueue(waiter);
  }

  private Place enqueue(Waiter waiter) {
    var request = new QueuedRequest(waiter, this, loop.nanoTime());
    if (permits.tryEnter(queueBound)) {
      loop.execute(() -> enqueued(request));
    } else {
      log.debug("{}: {} wait already, one more is rejected", id, queueBound);
      request.reject(new Rejection.QueueFull(id));
    }
    return request;
  }

  private void enqueued(QueuedRequest request) {
    if (gone) {
      permits.leave();
      request.reject(new Rejection.RevisionGone(id));
      return;
    }
    queue.add(request);
    // A permit that came back while the request was on its way here woke nobody.
    grant();
  }

  void leave(QueuedRequest request) {
    loop.execute(() -> {
      if (queue.remove(request)) {
        permits.leave();
        publishHead();
      }
    });
  }

  /** The revision was created or has changed. */
  void revision(Revision now, int bound) {
    loop.execute(() -> {
      boolean otherwiseSpread = now.containerConcurrency() != revision.containerConcurrency();
      revision = now;
      queueBound = bound;
      if (otherwiseSpread) {
        reroute();
      }
      startFailure(now.startFailure());
    });
  }

  private void startFailure(@Nullable StartFailure failure) {
    if (failure == null || failure.equals(lastFailure)) {
      return;
    }
    lastFailure = failure;
    // While something runs the queue moves on: a pod that fails beside it is no reason to reject.
    if (subset.capacity() == 0) {
      log.info("{}: cannot start ({}), {} waiting requests rejected", id, failure.reason(),
          queue.size());
      rejectAll(new Rejection.CannotStart(id, failure));
    }
  }

  /** The revision was deleted. What runs ends in its own time. */
  void gone() {
    loop.execute(() -> {
      log.info("{}: deleted, {} waiting requests rejected", id, queue.size());
      gone = true;
      subset = Subset.NONE;
      permits.route(subset, Balancer.FIRST_AVAILABLE);
      rejectAll(new Rejection.RevisionGone(id));
    });
  }

  void destinations(HealthyDestinations now) {
    loop.execute(() -> {
      healthy = now;
      reroute();
    });
  }

  void publicAddresses(PublicAddresses addresses, String own) {
    loop.execute(() -> activators(addresses, own));
  }

  /** The same, of addresses that may be older than those told before: then they mean nothing. */
  void earlierAddresses(PublicAddresses addresses, String own) {
    loop.execute(() -> {
      if (activator.equals(ActivatorIndex.UNKNOWN)) {
        activators(addresses, own);
      }
    });
  }

  private void activators(PublicAddresses addresses, String own) {
    var before = activator;
    activator = before.after(addresses.on(revision.protocol()), own);
    if (!activator.equals(before)) {
      log.info("{}: this is activator {} of {}", id, activator.index(), activator.activators());
      reroute();
    }
  }

  private void reroute() {
    if (gone) {
      return;
    }
    var before = subset;
    int concurrency = revision.containerConcurrency();
    subset = Subset.of(healthy, activator, concurrency);
    permits.route(subset, Balancer.of(concurrency));
    if (!subset.equals(before)) {
      log.info("{}: capacity {} on {} destinations, was {} on {}", id, printed(subset.capacity()),
          subset.destinations().size(), printed(before.capacity()), before.destinations().size());
    }
    grant();
  }

  /** Called by whoever releases a permit while somebody waits; many releases make one turn. */
  private void wake() {
    if (!wakeUnderWay.getAndSet(true)) {
      loop.execute(() -> {
        // Before looking at the permits: one that comes back after the look then wakes again.
        wakeUnderWay.set(false);
        permits.forgetClosed();
        grant();
      });
    }
  }

  private void grant() {
    for (int granted = 0; !queue.isEmpty(); granted++) {
      if (granted == GRANTS_A_TURN) {
        wake();
        break;
      }
      var permit = permits.acquireForHead();
      if (permit == null) {
        break;
      }
      queue.removeFirst().grant(permit);
      permits.leave();
    }
    publishHead();
  }

  private void rejectAll(Rejection reason) {
    for (var request : queue) {
      request.reject(reason);
      permits.leave();
    }
    queue.clear();
    publishHead();
  }

  private void publishHead() {
    head = queue.isEmpty() ? null : queue.getFirst();
  }

  /** What is so at this moment, asked from any thread. */
  ThrottleView view() {
    var pods = permits.pods().stream()
        .map(pod -> new ThrottleView.PodView(pod.destination(), pod.inFlight()))
        .sorted((one, other) -> one.destination().compareTo(other.destination())).toList();
    int inFlight = pods.stream().mapToInt(ThrottleView.PodView::inFlight).sum();
    var first = head;
    var oldest = first == null
        ? Duration.ZERO
        : Duration.ofNanos(Math.max(0, loop.nanoTime() - first.sinceNanos()));
    return new ThrottleView(id, revision.containerConcurrency(), permits.capacity(), inFlight,
        permits.waiting(), oldest, pods);
  }

  private static Object printed(int capacity) {
    return capacity == Loads.UNLIMITED ? "unlimited" : capacity;
  }
}
