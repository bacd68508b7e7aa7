package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import dev.activator.throttle.policy.ActivatorIndex;
import dev.activator.throttle.policy.Balancer;
import dev.activator.throttle.policy.Loads;
import dev.activator.throttle.policy.Routing;
import dev.activator.throttle.policy.Subset;
import dev.activator.throttle.policy.Tuning;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
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
 * {@code loop}; only {@link Permits}, {@link Outlook} and {@link RetryBudget} are shared.
 *
 * <p>
 * <b>Errors.</b> None are thrown. Who will not run is told why.
 *
 * <p>
 * <b>Source.</b> {@code revisionThrottler} in Knative Serving's {@code throttler.go}, which has a
 * semaphore for the revision and one for each pod, and lets a newcomer take what was freed for
 * another. Here there is one structure and one order.
 */
final class RevisionThrottler implements Permits.Owner {
  private static final Logger log = LoggerFactory.getLogger(RevisionThrottler.class);

  /** Permits handed out before other tasks of the loop have a turn. */
  private static final int GRANTS_A_TURN = 256;
  /** So long a pod that could not be reached is left alone, if the prober says nothing before. */
  private static final Duration ASIDE = Duration.ofMillis(250);

  private final RevisionId id;
  private final Loop loop;
  private final Common common;
  private final Permits permits;
  private final Outlook outlook;
  private final RetryBudget retries = new RetryBudget();
  private final AtomicLong heldBytes = new AtomicLong();
  private final Line line = new Line();
  private final RampClock ramp;
  private final AtomicBoolean wakeUnderWay = new AtomicBoolean();
  private volatile Revision revision;
  private volatile Tuning tuning;

  private Routing routing;
  private Subset subset = Subset.NONE;
  private @Nullable StartFailure lastFailure;
  private boolean gone;

  RevisionThrottler(Loop loop, Revision revision, Common common) {
    this.id = revision.id();
    this.loop = loop;
    this.common = common;
    this.permits = new Permits(common.random(), this);
    this.outlook = new Outlook(loop, id.hashCode());
    this.ramp = new RampClock(loop, this::widen);
    this.revision = revision;
    this.tuning = tuned(revision);
    this.routing = Routing.initial(id);
    this.lastFailure = revision.startFailure();
  }

  private Tuning tuned(Revision now) {
    return common.defaults().with(now.annotations(),
        problem -> log.warn("{}: {}; it is ignored", id, problem));
  }

  /** A permit at once, or a place in the queue. */
  Admission admit(Waiter waiter) {
    var permit = permits.tryAcquire();
    return permit != null ? permit : enqueue(waiter);
  }

  private Place enqueue(Waiter waiter) {
    var request = new QueuedRequest(waiter, this, loop.nanoTime(), null);
    int most = tuning.queueCapacity();
    if (permits.capacity() == 0 && outlook.startsAfter(waiter.patienceNanos())) {
      log.debug("{}: a request whose deadline is too near to start for is rejected", id);
      loop.execute(outlook::startAsked);
      request.reject(new Rejection.TooLate(id, outlook.retryAfterStarting()));
    } else if (permits.tryEnter(most)) {
      loop.execute(() -> enqueued(request));
    } else {
      log.debug("{}: {} wait already, one more is rejected", id, most);
      request.reject(new Rejection.QueueFull(id, retryAfterSeconds()));
    }
    return request;
  }

  private void enqueued(QueuedRequest request) {
    if (gone) {
      permits.leave();
      request.reject(new Rejection.RevisionGone(id));
      return;
    }
    if (line.isEmpty()) {
      outlook.queueBegan();
    }
    if (subset.capacity() == 0) {
      outlook.startAsked();
    }
    line.add(request);
    // A permit that came back while the request was on its way here woke nobody.
    grant();
  }

  void leave(QueuedRequest request) {
    loop.execute(() -> {
      if (line.remove(request)) {
        permits.leave();
        line.publish();
      }
    });
  }

  @Override
  public @Nullable Place retry(Pod pod, Waiter waiter) {
    int active = permits.waiting() + permits.inFlight();
    if (!retries.tryTake(active)) {
      log.debug("{}: too many of {} requests try again already", id, active);
      pod.releaseBroken();
      return null;
    }
    var request = new QueuedRequest(waiter, this, loop.nanoTime(), retries);
    // First, so that nobody overtakes while it is on its way to the loop.
    permits.enterAgain();
    loop.execute(() -> returned(request, pod));
    return request;
  }

  private void returned(QueuedRequest request, Pod pod) {
    if (gone) {
      pod.releaseBroken();
      permits.leave();
      request.reject(new Rejection.RevisionGone(id));
      return;
    }
    line.addReturned(request);
    // Before its permit is back, so that nobody is sent there with it.
    unreachable(pod.destination());
    pod.releaseBroken();
    grant();
  }

  private void unreachable(Destination destination) {
    if (!subset.destinations().contains(destination)) {
      return;
    }
    log.info("{}: {} could not be reached and is set aside", id, destination);
    routing = routing.unreachable(destination, loop.nanoTime() + ASIDE.toNanos());
    reroute();
    loop.schedule(ASIDE, this::reroute);
    common.suspected().accept(id, destination);
  }

  /** The revision was created or has changed. */
  void revision(Revision now) {
    loop.execute(() -> {
      boolean otherwise = now.containerConcurrency() != revision.containerConcurrency();
      if (!now.annotations().equals(revision.annotations())) {
        var before = tuning;
        tuning = tuned(now);
        otherwise |= !tuning.equals(before);
      }
      revision = now;
      if (otherwise) {
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
          line.size());
      rejectAll(new Rejection.CannotStart(id, failure));
    }
  }

  /** The revision was deleted. What runs ends in its own time. */
  void gone() {
    loop.execute(() -> {
      log.info("{}: deleted, {} waiting requests rejected", id, line.size());
      gone = true;
      subset = Subset.NONE;
      permits.route(subset, Balancer.FIRST_AVAILABLE, 0);
      rejectAll(new Rejection.RevisionGone(id));
    });
  }

  void destinations(HealthyDestinations now) {
    loop.execute(() -> {
      routing = routing.listed(now);
      reroute();
    });
  }

  void publicAddresses(PublicAddresses addresses, String own) {
    loop.execute(() -> activators(addresses, own));
  }

  /** The same, of addresses that may be older than those told before: then they mean nothing. */
  void earlierAddresses(PublicAddresses addresses, String own) {
    loop.execute(() -> {
      if (routing.activator().equals(ActivatorIndex.UNKNOWN)) {
        activators(addresses, own);
      }
    });
  }

  private void activators(PublicAddresses addresses, String own) {
    var before = routing.activator();
    routing = routing.among(addresses.on(revision.protocol()), own);
    var now = routing.activator();
    if (!now.equals(before)) {
      log.info("{}: this is activator {} of {}", id, now.index(), now.activators());
      reroute();
    }
  }

  private void reroute() {
    if (gone) {
      return;
    }
    var before = subset;
    int concurrency = revision.containerConcurrency();
    subset = routing.subset(concurrency, loop.nanoTime());
    permits.route(subset, tuning.balancer(concurrency), tuning.rampStart());
    if (!subset.equals(before)) {
      log.info("{}: capacity {} on {} destinations, was {} on {}", id, printed(subset.capacity()),
          subset.destinations().size(), printed(before.capacity()), before.destinations().size());
      outlook.rerouted(before, subset);
    }
    if (permits.isRamping()) {
      ramp.start();
    }
    grant();
  }

  private boolean widen() {
    boolean more = permits.widen();
    grant();
    return more;
  }

  @Override
  public void narrowed() {
    loop.execute(ramp::start);
  }

  /** Called by whoever releases a permit while somebody waits; many releases make one turn. */
  @Override
  public void wake() {
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
    int granted = 0;
    while (!line.isEmpty()) {
      if (granted == GRANTS_A_TURN) {
        wake();
        break;
      }
      var permit = permits.acquireForHead();
      if (permit == null) {
        break;
      }
      line.removeFirst().grant(permit);
      permits.leave();
      granted++;
    }
    if (granted > 0) {
      outlook.queueMoved(granted);
    }
    line.publish();
  }

  private void rejectAll(Rejection reason) {
    for (var request : line.clear()) {
      request.reject(reason);
      permits.leave();
    }
    line.publish();
  }

  /** What waiting requests hold, as they count it themselves. */
  AtomicLong heldBytes() {
    return heldBytes;
  }

  Duration queueTimeout() {
    return tuning.queueTimeout();
  }

  /** When a caller that is refused now may come again. Any thread may ask. */
  int retryAfterSeconds() {
    return permits.capacity() == 0
        ? outlook.retryAfterStarting()
        : outlook.retryAfterDraining(permits.waiting());
  }

  /** What is so at this moment, asked from any thread. */
  ThrottleView view() {
    var pods = permits.view();
    int inFlight = pods.stream().mapToInt(ThrottleView.PodView::inFlight).sum();
    var first = line.head();
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
