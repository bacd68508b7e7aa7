package dev.activator.throttle;

import dev.activator.throttle.QueuedRequest.RetryBudget;
import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.policy.WaitLimits;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests of one revision that wait for a permit: each is granted one, is rejected, or leaves, which its caller learns
 * on its own loop. They are kept in {@link OrderedRequests}.
 *
 * <p><b>Threads.</b> The revision's loop; any for {@link #enter}, {@link #leave}, {@link #retry},
 * {@link #grantSoon}, {@link #onRequestEnd} and what a {@link QueueEntry} reads.
 *
 * <p><b>Errors.</b> A request that cannot run gets a {@link Rejection}.
 */
final class RevisionQueue implements RevisionPermits.Owner {
  private static final Logger log = LoggerFactory.getLogger(RevisionQueue.class);

  /** The maximum number of grants before other tasks of the loop run. */
  private static final int MAX_GRANTS_PER_TASK = 256;

  private final RevisionId id;
  private final Loop loop;
  private final RevisionPermits permits;
  private final OrderedRequests requests;
  private final PodChoices choices;
  private final WaitEstimator estimator;
  private final QueueMonitor monitor;
  private final RetryBudget retries = new RetryBudget();
  private final AtomicLong heldBytes = new AtomicLong();
  private final AtomicBoolean grantPending = new AtomicBoolean();
  /** Set while a queued request waits until the window of a pod widens. */
  private final ResettableTimer slowStart;
  private final RevisionThrottler throttler;
  private final Throttler.Topics topics;
  private boolean deleted;
  private long podsSinceNanos;
  /** Written after {@code podsSinceNanos}, and read before it. */
  private volatile boolean hasPods;
  private Loop waitingOn;

  RevisionQueue(Loop loop, Revision revision, RandomGenerator random, WaitEstimator estimator,
      RevisionThrottler throttler, Throttler.Topics topics) {
    this.id = revision.id();
    this.loop = loop;
    this.waitingOn = loop;
    this.estimator = estimator;
    this.throttler = throttler;
    this.topics = topics;
    var podBound = new PodBoundRequests();
    this.permits = new RevisionPermits(random, podBound, this);
    this.requests = new OrderedRequests(id, podBound);
    this.choices = new PodChoices(id, permits, requests,
        new PodTenants(permits, requests, throttler::tenantLimit), throttler::choosable);
    this.slowStart = new ResettableTimer(loop, this::grant);
    this.monitor = new QueueMonitor(loop, revision, this, topics);
  }

  RevisionPermits permits() {
    return permits;
  }

  PodChoices choices() {
    return choices;
  }

  /** The loop of a queued request, on which it will run. */
  Loop waitingOn() {
    return waitingOn;
  }

  QueueMonitor monitor() {
    return monitor;
  }

  /** The queued requests, in order. */
  OrderedRequests requests() {
    return requests;
  }

  /** @param choice null if the balancer chooses the pod */
  QueueEntry enter(QueuedCaller caller, @Nullable PodChoice choice) {
    var request = new QueuedRequest(caller, this, loop.nanoTime(), choice, null);
    if (isAtZero() && estimator.startTakesLongerThan(caller.maxWaitNanos())) {
      log.debug("{}: rejected a request: no pod is expected to start before its deadline", id);
      loop.execute(() -> {
        estimator.startRefused();
        monitor.requestWaits();
      });
      request.reject(new Rejection.DeadlineTooNear(id, estimator.retryAfterStarting()));
    } else if (permits.tryEnter(throttler.queueBound())) {
      loop.execute(() -> entered(request));
    } else if (choice != null || choices.areUsed()) {
      loop.execute(() -> enterFullQueue(request));
    } else {
      rejectFromFullQueue(request);
    }
    return request;
  }

  /**
   * Requests that were on their way to the queue are in their places now. If they wait for one pod
   * each, this one may find another idle.
   */
  private void enterFullQueue(QueuedRequest request) {
    var permit = choices.tryAcquire(request.choice());
    if (permit != null) {
      request.grant(permit, loop.nanoTime());
    } else if (permits.tryEnter(throttler.queueBound())) {
      entered(request);
    } else {
      rejectFromFullQueue(request);
    }
  }

  private void rejectFromFullQueue(QueuedRequest request) {
    log.debug("{}: rejected a request: {} are queued already", id,
        throttler.options().queueCapacity());
    request.reject(new Rejection.QueueFull(id, retryAfterSeconds()));
  }

  private void entered(QueuedRequest request) {
    boolean elsewhere = requests.isEmpty() && request.loop() != waitingOn;
    if (elsewhere) {
      waitingOn = request.loop();
    }
    if (rejectIfHopeless(request)) {
      return;
    }
    if (elsewhere && permits.capacity() == 0) {
      // Probes of the pod that starts must be sent from there.
      monitor.requestWaitsElsewhere();
    } else {
      monitor.requestWaits();
    }
    if (requests.isEmpty()) {
      estimator.queueStarted();
    }
    if (isAtZero() && estimator.startAwaited()) {
      topics.starts().publish(id);
    }
    choices.place(request);
    // A permit may have been released before this task ran.
    grant();
  }

  private boolean rejectIfHopeless(QueuedRequest request) {
    if (deleted) {
      permits.leave();
      request.reject(new Rejection.RevisionGone(id));
    } else if (choices.isGone(request)) {
      permits.leave();
      request.reject(new Rejection.PodGone(id));
    } else if (throttler.isGivenUp()) {
      monitor.requestWaits();
      permits.leave();
      request.reject(new Rejection.GivenUp(id));
    } else if (isAtZero()
        && monitor.lastingFailure() instanceof RevisionStartFailure failure) {
      permits.leave();
      request.reject(new Rejection.CannotStart(id, failure));
    } else {
      return false;
    }
    return true;
  }

  void leave(QueuedRequest request) {
    loop.execute(() -> {
      boolean nothingRuns = permits.capacity() == 0;
      // Those that wait for one pod show nothing about the queue of the others.
      if (!request.isRetry() && request.waitsFor == null) {
        long now = loop.nanoTime();
        long queuedNanos = now - request.sinceNanos();
        requests.setOrder(nothingRuns
            ? requests.order().leftDuringStart(queuedNanos)
            : requests.order().left(queuedNanos, 0, now));
      }
      if (requests.remove(request)) {
        throttler.onQueue();
        choices.removed(request);
        requests.publishOldest();
        if (requests.isEmpty() && nothingRuns) {
          estimator.startGivenUp();
        }
      }
    });
  }

  /** Call for the end of each request that had been queued for any pod. */
  void onRequestEnd(Ending ending, long queuedNanos, long ranNanos) {
    switch (ending) {
      case ANSWERED ->
        loop.execute(() -> requests.setOrder(requests.order().served(queuedNanos, ranNanos)));
      case ABANDONED ->
        loop.execute(
            () -> requests.setOrder(requests.order().left(queuedNanos, ranNanos, loop.nanoTime())));
      case UNCOUNTED, BROKEN -> {
        // Such an end shows nothing about the queue.
      }
    }
  }

  @Override
  public @Nullable QueueEntry retry(Permit permit, QueuedCaller caller, boolean connected) {
    int active = permits.queued() + permits.inFlight();
    if (!connected || permits.hasRoomOtherThan(permit.destination())) {
      retries.acquire();
    } else if (!retries.tryAcquire(active)) {
      log.debug("{}: too many of {} requests are retries already", id, active);
      permit.release(Ending.BROKEN);
      return null;
    }
    var request = new QueuedRequest(caller, this, loop.nanoTime(), choices.of(caller), retries);
    // Counted as queued first, so that no request overtakes before the loop has queued this one.
    permits.enterAgain();
    loop.execute(() -> returned(request, permit));
    return request;
  }

  private void returned(QueuedRequest request, Permit permit) {
    if (!rejectIfHopeless(request)) {
      choices.place(request);
    }
    // Ejects before the release, so that the permit is not granted for this destination again.
    throttler.eject(permit.destination());
    permit.release(Ending.BROKEN);
    // Needed if nothing was ejected because the pod was already unlisted or ejected.
    onSubset(hasPods);
  }

  /** Grants permits in a task of the loop; one task serves many calls. */
  @Override
  public void grantSoon() {
    if (!grantPending.getAndSet(true)) {
      loop.execute(() -> {
        // Reset first, so that a permit that is released later is granted, too.
        grantPending.set(false);
        permits.dropClosedIdle();
        grant();
      });
    }
  }

  void grant() {
    permits.updateCarried();
    // Read first, because otherwise a window that widens after the last attempt could be missed.
    long wider = requests.isEmpty() ? -1 : permits.nanosToNextStep();
    int granted = 0;
    while (!requests.isEmpty()) {
      if (granted == MAX_GRANTS_PER_TASK) {
        grantSoon();
        break;
      }
      if (!choices.grantNext(loop.nanoTime())) {
        break;
      }
      granted++;
    }
    if (granted > 0) {
      estimator.queueGranted(granted);
    }
    requests.publishOldest();
    throttler.onQueue();
    if (wider >= 0 && !requests.isEmpty()) {
      slowStart.within(wider);
    }
  }

  /**
   * Call when permits or destinations may have changed.
   *
   * @param hasNow whether the revision has any destination, ejected or not
   */
  void onSubset(boolean hasNow) {
    if (hasNow && !hasPods) {
      podsSinceNanos = loop.nanoTime();
    }
    hasPods = hasNow;
    choices.onPods();
    grant();
    if (isQueued()) {
      monitor.requestWaits();
      if (isAtZero() && estimator.startAwaited()) {
        topics.starts().publish(id);
      }
    }
  }

  boolean isQueued() {
    return !requests.isEmpty();
  }

  /** Whether requests are queued and none can run. */
  boolean isStarved() {
    return permits.capacity() == 0 && isQueued();
  }

  /** Whether a pod has to start: there is none, and none was ejected a moment ago. */
  private boolean isAtZero() {
    return permits.capacity() == 0 && !throttler.hasJustEjected();
  }

  void cannotStart(RevisionStartFailure failure) {
    log.info("{}: cannot start ({}), {} queued requests rejected", id, failure.reason(),
        requests.size());
    rejectAll(new Rejection.CannotStart(id, failure));
  }

  /** The revision is deleted. Running requests continue. */
  void end() {
    log.info("{}: deleted, {} queued requests rejected", id, requests.size());
    deleted = true;
    rejectAll(new Rejection.RevisionGone(id));
  }

  boolean isDeleted() {
    return deleted;
  }

  void onGivenUp() {
    if (isQueued()) {
      log.info("{}: no pod accepts connections any more, {} queued requests rejected", id,
          requests.size());
      rejectAll(new Rejection.GivenUp(id));
    }
  }

  void rejectAll(Rejection reason) {
    for (var request : requests.clear()) {
      request.reject(reason);
      choices.removed(request);
    }
    throttler.onQueue();
    requests.publishOldest();
    estimator.startGivenUp();
  }

  @Override
  public boolean isWithdrawn(Destination destination) {
    return throttler.isWithdrawn(destination);
  }

  @Override
  public long nanoTime() {
    return loop.nanoTime();
  }

  AtomicLong heldBytes() {
    return heldBytes;
  }

  WaitLimits waits() {
    return throttler.options().waits();
  }

  /** For how long there have been pods; {@link WaitLimits#NO_PODS} if there are none. */
  long podsNanos() {
    return hasPods ? Math.max(0, nanoTime() - podsSinceNanos) : WaitLimits.NO_PODS;
  }

  int retryAfterSeconds() {
    return permits.capacity() == 0
        ? estimator.retryAfterStarting()
        : estimator.retryAfterDraining(permits.queued());
  }
}
