package dev.activator.throttle;

import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import dev.activator.throttle.admission.Admission;
import dev.activator.throttle.admission.Place;
import dev.activator.throttle.admission.Rejection;
import dev.activator.throttle.admission.Waiter;
import dev.activator.throttle.policy.Balancer;
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
 * Who of one revision's requests runs, who waits, and who is refused. A permit that comes back goes
 * to the head of the queue.
 *
 * <p>
 * <b>Threads.</b> Any thread may ask for admission, give permits back and leave the queue. The queue
 * belongs to {@code loop}, and so do {@link #route}, {@link #rejectAll} and {@link #close}; {@link
 * Permits}, {@link Outlook} and {@link RetryBudget} are shared.
 */
final class Admissions implements Permits.Owner {
  /** Who hears of what happens to requests. */
  interface Listener {
    /** A request could not be delivered there. */
    void unreachable(Destination destination);

    /** Somebody waits, and nothing can run. */
    void starved();
  }

  private static final Logger log = LoggerFactory.getLogger(Admissions.class);

  /** Permits handed out before other tasks of the loop have a turn. */
  private static final int GRANTS_A_TURN = 256;
  private static final Duration RAMP_STEP = Duration.ofMillis(100);

  private final RevisionId id;
  private final Loop loop;
  private final Listener listener;
  private final Permits permits;
  private final Outlook outlook;
  private final RetryBudget retries = new RetryBudget();
  private final AtomicLong heldBytes = new AtomicLong();
  private final Line line = new Line();
  private final DeadlineTimer ramp;
  private final AtomicBoolean wakeUnderWay = new AtomicBoolean();
  private volatile Tuning tuning;
  private Subset subset = Subset.NONE;
  private boolean closed;

  /**
   * Nothing may run yet.
   *
   * @param listener told, on the loop, of what it may change by routing anew
   */
  Admissions(RevisionId id, Loop loop, Tuning tuning, RandomGenerator random,
      Listener listener) {
    this.id = id;
    this.loop = loop;
    this.tuning = tuning;
    this.listener = listener;
    this.permits = new Permits(random, this);
    this.outlook = new Outlook(loop, id.hashCode());
    this.ramp = new DeadlineTimer(loop, this::widen);
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
      loop.execute(outlook::startRefused);
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
    if (closed) {
      permits.leave();
      request.reject(new Rejection.RevisionGone(id));
      return;
    }
    if (line.isEmpty()) {
      outlook.queueBegan();
    }
    if (subset.capacity() == 0) {
      outlook.startAwaited();
      listener.starved();
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
        if (line.isEmpty() && subset.capacity() == 0) {
          outlook.startGivenUp();
        }
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
    if (closed) {
      pod.releaseBroken();
      permits.leave();
      request.reject(new Rejection.RevisionGone(id));
      return;
    }
    line.addReturned(request);
    // Before its permit is back, so that nobody is sent there with it.
    listener.unreachable(pod.destination());
    pod.releaseBroken();
    grant();
  }

  /** Requests go here from now on, spread and held like this. */
  void route(Subset now, Tuning how, int containerConcurrency) {
    tuning = how;
    outlook.rerouted(subset, now);
    subset = now;
    permits.route(now, how.balancer(containerConcurrency),
        containerConcurrency == 0 ? how.rampStart() : 0);
    if (permits.isRamping()) {
      ramp.within(RAMP_STEP);
    }
    grant();
    if (now.capacity() == 0 && !line.isEmpty()) {
      listener.starved();
    }
  }

  /** Nothing runs from now on, and who waits is rejected. */
  void close(Rejection reason) {
    closed = true;
    subset = Subset.NONE;
    permits.route(subset, Balancer.FIRST_AVAILABLE, 0);
    rejectAll(reason);
  }

  private void widen() {
    if (permits.widen()) {
      ramp.within(RAMP_STEP);
    }
    grant();
  }

  @Override
  public void narrowed() {
    loop.execute(() -> ramp.within(RAMP_STEP));
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

  /** Who waits is rejected. */
  void rejectAll(Rejection reason) {
    for (var request : line.clear()) {
      request.reject(reason);
      permits.leave();
    }
    line.publish();
    outlook.startGivenUp();
  }

  /** What waiting requests hold, as they count it themselves. */
  AtomicLong heldBytes() {
    return heldBytes;
  }

  /** How long one may wait, from its arrival; zero for no limit. */
  Duration queueTimeout() {
    return tuning.queueTimeout();
  }

  /** When a caller that is refused now may come again. Any thread may ask. */
  int retryAfterSeconds() {
    return permits.capacity() == 0
        ? outlook.retryAfterStarting()
        : outlook.retryAfterDraining(permits.waiting());
  }

  /** How many wait, as the loop knows it. */
  int queued() {
    return line.size();
  }

  /** What is so at this moment, asked from any thread. */
  ThrottleView view(int containerConcurrency) {
    var pods = permits.view();
    int inFlight = pods.stream().mapToInt(ThrottleView.PodView::inFlight).sum();
    return new ThrottleView(id, containerConcurrency, permits.capacity(), inFlight,
        permits.waiting(), oldestWait(), pods);
  }

  /** What waiting requests may take, and do. */
  QueueView.Bounds bounds() {
    return new QueueView.Bounds(tuning.queueCapacity(), heldBytes.get(), tuning.queueTimeout());
  }

  /** What is known of starts, {@code failure} being why there is none. */
  QueueView.Start start(@Nullable StartFailure failure) {
    return new QueueView.Start(outlook.startingFor(), outlook.usualStart(), failure);
  }

  private Duration oldestWait() {
    var first = line.head();
    return first == null
        ? Duration.ZERO
        : Duration.ofNanos(Math.max(0, loop.nanoTime() - first.sinceNanos()));
  }
}
