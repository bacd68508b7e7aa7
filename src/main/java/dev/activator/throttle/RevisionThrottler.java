package dev.activator.throttle;

import dev.activator.loop.ResettableTimer;
import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.throttle.PermitSharing.LocalRevision;
import dev.activator.throttle.PermitSharing.RevisionSharing;
import dev.activator.throttle.PodChoice.Wanted;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.policy.ThrottlerOptions;
import dev.activator.throttle.policy.WaitLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Admits or queues the requests of one revision. A released permit goes to the head of the queue.
 *
 * <p><b>Threads.</b> Any, but the loop for {@link #inspect} and the methods of
 * {@link PermitSharing.LocalQueue}. The state belongs to {@code loop};
 * {@link RevisionPermits}, {@link WaitEstimator} and {@link RetryBudget} are shared by threads.
 *
 * <p><b>Errors.</b> A request that cannot run gets a {@link Rejection}.
 *
 * <p><b>Source.</b> Knative's {@code revisionThrottler}. There a new request can overtake a queued
 * one, because the revision and each pod have separate semaphores.
 */
final class RevisionThrottler
    implements RevisionPermits.Owner, DestinationSubsetUpdater.Owner, PermitSharing.LocalQueue {
  /** Listens to one revision. Each method is called on the revision's loop. */
  interface Listener {
    /** A destination was ejected, because a request could not be delivered to it. */
    void onUnreachable(Destination destination);

    /** The first request was queued for a start. */
    void onStart();

    /**
     * A request cannot run at once. Repeated each second while requests are queued.
     *
     * @param on the loop of such a request
     */
    void onWaiting(Loop on);

    /** Requests are queued and nothing can run. Repeated each second. */
    void onStarved();
  }

  private static final Logger log = LoggerFactory.getLogger(RevisionThrottler.class);

  /** The number of queued requests whose wait a snapshot lists. */
  private static final int MAX_LISTED_WAITS = 5;
  private static final int MAX_SOURCES = 100;
  /** The maximum number of grants before other tasks of the loop run. */
  private static final int MAX_GRANTS_PER_TASK = 256;

  private final RevisionId id;
  private final Loop loop;
  private final ThrottlerOptions defaults;
  private final RevisionPermits permits;
  private final WaitEstimator estimator;
  private final RetryBudget retries = new RetryBudget();
  private final AtomicLong heldBytes = new AtomicLong();
  private final AtomicBoolean wakePending = new AtomicBoolean();
  private final WaitQueue queue;
  /** Set while a queued request waits until the window of a pod widens. */
  private final ResettableTimer slowStart;
  private final RevisionSharing sharing;
  private final DestinationSubsetUpdater subsetUpdater;
  private final QueueMonitor queueMonitor;
  private final Listener listener;
  private volatile Revision revision;
  private volatile ThrottlerOptions options;
  /** Null for most revisions, whose balancer chooses the pods. */
  private volatile PodChoice.@Nullable Maker choices;
  /** The pods among which queued requests have chosen. */
  private @Nullable List<Destination> choosable = List.of();
  private boolean deleted;
  private long podsSinceNanos;
  /** Written after {@code podsSinceNanos}, and read before it. */
  private volatile boolean hasPods;
  /** The loop of a queued request, on which it will run. */
  private Loop waitingOn;

  /** @param capacityLines limits the log lines of all revisions together */
  RevisionThrottler(Loop loop, Revision revision, ThrottlerOptions defaults, RandomGenerator random,
      PermitSharing sharing, LogLimit capacityLines, Listener listener) {
    this.listener = listener;
    this.id = revision.id();
    this.loop = loop;
    this.waitingOn = loop;
    this.defaults = defaults;
    var podQueues = new PodQueues();
    this.permits = new RevisionPermits(random, podQueues, this);
    this.estimator = new WaitEstimator(loop, id.hashCode());
    this.queue = new WaitQueue(id, podQueues);
    this.slowStart = new ResettableTimer(loop, this::grant);
    this.revision = revision;
    this.options = optionsOf(revision);
    this.sharing = sharing.revision(new LocalRevision(id, loop, permits, this),
        DestinationSubsetUpdater.withoutPods(revision));
    this.subsetUpdater = new DestinationSubsetUpdater(loop, permits, estimator, this.sharing,
        capacityLines, this);
    this.queueMonitor = new QueueMonitor(loop, revision, this::isQueued, this::isStarved,
        () -> listener.onWaiting(waitingOn), listener::onStarved, this::cannotStart);
    // The last step, because the loop may use this object immediately.
    this.sharing.open();
  }

  ThrottleDecision admit(QueuedCaller caller) {
    var maker = choices;
    var choice = maker == null ? null : maker.of(caller);
    var permit = choice == null ? permits.tryAcquire() : tryAcquire(choice);
    if (permit != null) {
      return permit;
    }
    return caller.mayWait() ? enqueue(caller, choice) : new ThrottleDecision.NoRoom();
  }

  private @Nullable Permit tryAcquire(PodChoice choice) {
    if (permits.isQueuing()) {
      return null;
    }
    return switch (wanted(choice)) {
      case PodChoice.Any _ -> permits.tryAcquireFor(choice);
      case PodChoice.Only(var pod) -> permits.tryAcquireAt(pod);
      case PodChoice.Gone _ -> null;
    };
  }

  private Wanted wanted(@Nullable PodChoice choice) {
    if (choice == null) {
      return PodChoice.ANY;
    }
    var pods = subsetUpdater.choosable();
    return pods == null ? PodChoice.ANY : choice.wanted(pods);
  }

  private QueueEntry enqueue(QueuedCaller caller, @Nullable PodChoice choice) {
    var request = new QueuedRequest(caller, this, loop.nanoTime(), choice, null);
    int max = options.queueBound(sharing.queuedElsewhere());
    if (permits.capacity() == 0 && estimator.startTakesLongerThan(caller.maxWaitNanos())) {
      log.debug("{}: rejected a request: no pod is expected to start before its deadline", id);
      loop.execute(() -> {
        estimator.startRefused();
        queueMonitor.requestWaits();
      });
      request.reject(new Rejection.DeadlineTooNear(id, estimator.retryAfterStarting()));
    } else if (permits.tryEnter(max)) {
      loop.execute(() -> enqueued(request));
    } else {
      log.debug("{}: rejected a request: {} are queued already", id,
          options.queueCapacity());
      request.reject(new Rejection.QueueFull(id, retryAfterSeconds()));
    }
    return request;
  }

  private void enqueued(QueuedRequest request) {
    boolean elsewhere = queue.isEmpty() && request.loop() != waitingOn;
    if (elsewhere) {
      waitingOn = request.loop();
    }
    if (rejectIfHopeless(request)) {
      return;
    }
    if (elsewhere && permits.capacity() == 0) {
      // Probes of the pod that starts must be sent from there.
      queueMonitor.requestWaitsElsewhere();
    } else {
      queueMonitor.requestWaits();
    }
    if (queue.isEmpty()) {
      estimator.queueStarted();
    }
    if (permits.capacity() == 0 && estimator.startAwaited()) {
      listener.onStart();
    }
    place(request, wanted(request.choice()));
    // A permit may have been released before this task ran.
    grant();
  }

  private void place(QueuedRequest request, Wanted wanted) {
    switch (wanted) {
      case PodChoice.Any _ when request.isRetry() -> queue.addReturned(request);
      case PodChoice.Any _ -> queue.add(request);
      case PodChoice.Only(var pod) -> {
        queue.add(request, pod);
        permits.leave();
      }
      case PodChoice.Gone _ -> {
        permits.leave();
        request.reject(new Rejection.PodGone(id));
      }
    }
  }

  /** Moves the requests whose choice is another now. */
  private void placeAgain() {
    boolean moved = false;
    for (var request : queue.choosing()) {
      var wanted = wanted(request.choice());
      var pod = wanted instanceof PodChoice.Only(var only) ? only : null;
      if (wanted instanceof PodChoice.Gone || !Objects.equals(pod, request.onlyPod)) {
        if (request.onlyPod != null) {
          permits.enterAgain();
        }
        queue.remove(request);
        request.onlyPod = null;
        place(request, wanted);
        moved = true;
      }
    }
    if (moved) {
      queue.sort();
    }
  }

  /** Call after a request was removed from the queue. */
  private void removed(QueuedRequest request) {
    if (request.onlyPod == null) {
      permits.leave();
    }
  }

  private boolean rejectIfHopeless(QueuedRequest request) {
    if (deleted) {
      permits.leave();
      request.reject(new Rejection.RevisionGone(id));
    } else if (wanted(request.choice()) instanceof PodChoice.Gone) {
      permits.leave();
      request.reject(new Rejection.PodGone(id));
    } else if (subsetUpdater.isUnreachable()) {
      queueMonitor.requestWaits();
      permits.leave();
      request.reject(new Rejection.Unreachable(id));
    } else if (permits.capacity() == 0
        && queueMonitor.lastingFailure() instanceof RevisionStartFailure failure) {
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
      if (!request.isRetry() && request.onlyPod == null) {
        long now = loop.nanoTime();
        long queuedNanos = now - request.sinceNanos();
        queue.setOrder(nothingRuns
            ? queue.order().leftDuringStart(queuedNanos)
            : queue.order().left(queuedNanos, 0, now));
      }
      if (queue.remove(request)) {
        sharing.onQueue();
        removed(request);
        queue.publishOldest();
        if (queue.isEmpty() && nothingRuns) {
          estimator.startGivenUp();
        }
      }
    });
  }

  /** Call for the end of each request that had been queued for any pod. */
  void onRequestEnd(Ending ending, long queuedNanos, long ranNanos) {
    switch (ending) {
      case ANSWERED ->
        loop.execute(() -> queue.setOrder(queue.order().served(queuedNanos, ranNanos)));
      case ABANDONED ->
        loop.execute(
            () -> queue.setOrder(queue.order().left(queuedNanos, ranNanos, loop.nanoTime())));
      case UNCOUNTED, BROKEN -> {
        // Such an end shows nothing about the queue.
      }
    }
  }

  @Override
  public @Nullable QueueEntry retry(PodTracker pod, QueuedCaller caller, boolean connected) {
    int active = permits.queued() + permits.inFlight();
    if (!connected || permits.hasRoomOtherThan(pod)) {
      retries.acquire();
    } else if (!retries.tryAcquire(active)) {
      log.debug("{}: too many of {} requests are retries already", id, active);
      pod.release(Ending.BROKEN);
      return null;
    }
    var maker = choices;
    var request = new QueuedRequest(caller, this, loop.nanoTime(),
        maker == null ? null : maker.of(caller), retries);
    // Counted as queued first, so that no request overtakes before the loop has queued this one.
    permits.enterAgain();
    loop.execute(() -> requeued(request, pod));
    return request;
  }

  private void requeued(QueuedRequest request, PodTracker pod) {
    if (!rejectIfHopeless(request)) {
      place(request, wanted(request.choice()));
    }
    // Ejects before the release, so that the permit is not granted for this destination again.
    subsetUpdater.eject(pod.destination());
    pod.release(Ending.BROKEN);
    // Needed if eject() had no effect because the pod was already unlisted or ejected.
    onSubset();
  }

  /** Grants permits in a task of the loop; one task serves many calls. */
  @Override
  public void wake() {
    if (!wakePending.getAndSet(true)) {
      loop.execute(() -> {
        // Reset first, so that a permit that is released later wakes again.
        wakePending.set(false);
        permits.dropClosedIdle();
        grant();
      });
    }
  }

  @Override
  public void grant() {
    permits.updateCarried();
    // Read first, because otherwise a window that widens after the last attempt could be missed.
    long wider = queue.isEmpty() ? -1 : permits.nanosToNextStep();
    int granted = 0;
    while (!queue.isEmpty()) {
      if (granted == MAX_GRANTS_PER_TASK) {
        wake();
        break;
      }
      if (!grantNext(loop.nanoTime())) {
        break;
      }
      granted++;
    }
    if (granted > 0) {
      estimator.queueGranted(granted);
    }
    queue.publishOldest();
    sharing.onQueue();
    if (wider >= 0 && !queue.isEmpty()) {
      slowStart.within(wider);
    }
  }

  /**
   * Of the next of all pods and the next of a pod with room, one that was returned runs, or else
   * the older one.
   */
  private boolean grantNext(long now) {
    if (!permits.hasRoom()) {
      return false;
    }
    var next = queue.next(now);
    var ofPod = queue.nextByPod(permits::hasRoomAt);
    if (ofPod != null && (next == null || ofPod.runsBefore(next))) {
      next = ofPod;
    }
    var permit = next == null ? null : acquire(next);
    if (next == null || permit == null) {
      return false;
    }
    queue.remove(next);
    next.grant(permit, now);
    removed(next);
    return true;
  }

  private @Nullable Permit acquire(QueuedRequest request) {
    if (request.onlyPod != null) {
      return permits.acquireAt(request.onlyPod);
    }
    return request.choice() == null
        ? permits.acquireForNext()
        : permits.acquireFor(request.choice());
  }

  private void rejectAll(Rejection reason) {
    for (var request : queue.clear()) {
      request.reject(reason);
      removed(request);
    }
    sharing.onQueue();
    queue.publishOldest();
    estimator.startGivenUp();
  }

  /** @param now null if the balancer chooses the pods */
  void choose(PodChoice.@Nullable Maker now) {
    choices = now;
  }

  void onRevision(Revision now) {
    loop.execute(() -> {
      boolean changed = now.containerConcurrency() != revision.containerConcurrency()
          // Lending depends on these two.
          || !now.timeouts().equals(revision.timeouts())
          || !Objects.equals(now.readinessProbe(), revision.readinessProbe());
      if (!now.annotations().equals(revision.annotations())) {
        var before = options;
        options = optionsOf(now);
        changed |= !options.equals(before);
      }
      revision = now;
      if (changed) {
        subsetUpdater.updateSubset();
      }
      queueMonitor.status(now);
    });
  }

  private ThrottlerOptions optionsOf(Revision now) {
    return defaults.with(now.annotations(),
        problem -> log.warn("{}: {}; it is ignored", id, problem));
  }

  /** @param now null when pods may start again */
  void onContainerFailure(@Nullable RevisionStartFailure now) {
    loop.execute(() -> queueMonitor.pods(now));
  }

  /**
   * @param read whether the pods are read
   * @param node how long the node that is added for them usually takes; zero if none is
   */
  void onStartProgress(boolean read, Duration node) {
    queueMonitor.podsRead(read);
    loop.execute(() -> estimator.nodeAwaited(node));
  }

  private boolean isQueued() {
    return !queue.isEmpty();
  }

  private boolean isStarved() {
    return permits.capacity() == 0 && !queue.isEmpty();
  }

  private void cannotStart(RevisionStartFailure failure) {
    log.info("{}: cannot start ({}), {} queued requests rejected", id, failure.reason(),
        queue.size());
    rejectAll(new Rejection.CannotStart(id, failure));
  }

  void rejectQueued() {
    loop.execute(() -> rejectAll(new Rejection.ShuttingDown(id)));
  }

  /** Rejects queued requests; running ones continue. */
  void end() {
    loop.execute(() -> {
      log.info("{}: deleted, {} queued requests rejected", id, queue.size());
      deleted = true;
      subsetUpdater.end();
      rejectAll(new Rejection.RevisionGone(id));
    });
  }

  void onDestinations(HealthyDestinations now) {
    loop.execute(() -> {
      subsetUpdater.onDestinations(now);
      if (now.unreachable() && !queue.isEmpty()) {
        log.info("{}: no pod accepts connections any more, {} queued requests rejected", id,
            queue.size());
        rejectAll(new Rejection.Unreachable(id));
      }
    });
  }

  @Override
  public boolean isWithdrawn(Destination destination) {
    return subsetUpdater.isWithdrawn(destination);
  }

  void onPublicAddresses(PublicEndpointAddresses addresses, String own) {
    loop.execute(() -> subsetUpdater.onActivators(addresses, own));
  }

  @Override
  public Revision revision() {
    return revision;
  }

  @Override
  public ThrottlerOptions options() {
    return options;
  }

  @Override
  public void onUnreachable(Destination destination) {
    listener.onUnreachable(destination);
  }

  @Override
  public void onSubset() {
    boolean hasNow = subsetUpdater.hasDestinations();
    if (hasNow && !hasPods) {
      podsSinceNanos = loop.nanoTime();
    }
    hasPods = hasNow;
    var now = subsetUpdater.choosable();
    if (now != choosable) {
      choosable = now;
      placeAgain();
    }
    grant();
    if (isQueued()) {
      queueMonitor.requestWaits();
    }
  }

  @Override
  public long nanoTime() {
    return loop.nanoTime();
  }

  AtomicLong heldBytes() {
    return heldBytes;
  }

  WaitLimits waits() {
    return options.waits();
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

  ThrottleView view() {
    var pods = permits.view();
    int inFlight = pods.stream().mapToInt(ThrottleView.PodLoad::inFlight).sum();
    return new ThrottleView(id, revision.containerConcurrency(), permits.ownCapacity(), inFlight,
        permits.queued(), oldestWait(), queue.order().at(loop.nanoTime()).newestFirst(), pods);
  }

  @Override
  public int queued() {
    return queue.size();
  }

  @Override
  public Map<Destination, Integer> queuedByPod() {
    return queue.byPod();
  }

  @Override
  public long oldestNanos() {
    var first = queue.first();
    return first == null ? loop.nanoTime() : first.sinceNanos();
  }

  @Override
  public void updateSubset() {
    subsetUpdater.updateSubset();
  }

  private Duration oldestWait() {
    var oldest = queue.oldest();
    return oldest == null ? Duration.ZERO : waitOf(oldest);
  }

  private Duration waitOf(QueuedRequest request) {
    return Duration.ofNanos(Math.max(0, loop.nanoTime() - request.sinceNanos()));
  }

  ThrottleView.Start start() {
    return new ThrottleView.Start(estimator.startingFor(), estimator.usualStart(),
        queueMonitor.failure(revision));
  }

  /** The details for a report. Call on the loop. */
  ThrottleView.Details inspect() {
    return new ThrottleView.Details(view(), permits.destinationCount(),
        new ThrottleView.Queue(options.queueCapacity(), heldBytes.get(), options.waits(),
            queue.isEmpty()
                ? List.of()
                : queue.oldest(MAX_LISTED_WAITS).map(this::waitOf).toList(),
            queue.isEmpty() ? Map.of() : queue.from(MAX_SOURCES), queue.byPod()),
        start(),
        subsetUpdater.activator(), subsetUpdater.ejected(), revision.rules(), sharing.view());
  }
}
