package dev.activator.throttle;

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
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Admits the requests of one revision: a request gets a permit at once, or enters the
 * {@link RevisionQueue}. It passes on what happens to the revision, and reports on it.
 *
 * <p><b>Threads.</b> Any, but the loop for {@link #inspect} and the methods of
 * {@link PermitSharing.LocalQueue}.
 *
 * <p><b>Source.</b> Knative's {@code revisionThrottler}. There a new request can overtake a queued
 * one, because the revision and each pod have separate semaphores.
 */
final class RevisionThrottler
    implements RevisionQueue.Owner, DestinationSubsetUpdater.Owner, PermitSharing.LocalQueue {
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

  private final RevisionId id;
  private final Loop loop;
  private final ThrottlerOptions defaults;
  private final WaitEstimator estimator;
  private final RevisionQueue queue;
  private final PodChoices choices;
  private final RevisionPermits permits;
  private final RevisionSharing sharing;
  private final DestinationSubsetUpdater subsetUpdater;
  private final Listener listener;
  private volatile Revision revision;
  private volatile ThrottlerOptions options;

  /** @param capacityLines limits the log lines of all revisions together */
  RevisionThrottler(Loop loop, Revision revision, ThrottlerOptions defaults, RandomGenerator random,
      PermitSharing sharing, LogLimit capacityLines, Listener listener) {
    this.listener = listener;
    this.id = revision.id();
    this.loop = loop;
    this.defaults = defaults;
    this.revision = revision;
    this.options = optionsOf(revision);
    this.estimator = new WaitEstimator(loop, id.hashCode());
    this.queue = new RevisionQueue(loop, revision, random, estimator, this, listener);
    this.choices = queue.choices();
    this.permits = queue.permits();
    this.sharing = sharing.revision(new LocalRevision(id, loop, permits, this),
        DestinationSubsetUpdater.withoutPods(revision));
    this.subsetUpdater = new DestinationSubsetUpdater(loop, permits, estimator, this.sharing,
        capacityLines, this);
    // The last step, because the loop may use this object immediately.
    this.sharing.open();
  }

  ThrottleDecision admit(QueuedCaller caller) {
    var choice = choices.of(caller);
    var permit = choices.tryAcquire(choice);
    if (permit != null) {
      return permit;
    }
    return caller.mayWait() ? queue.enter(caller, choice) : new ThrottleDecision.NoRoom();
  }

  /** A permit of the pod, even if it has no room; null if it gets no requests now. */
  @Nullable Permit acquireUnlimited(Destination pod) {
    return permits.acquireUnlimited(pod);
  }

  int load(Destination pod) {
    return permits.load(pod);
  }

  List<Destination> destinations() {
    return permits.subset().destinations();
  }

  /** @param now null if the balancer chooses the pods */
  void choose(PodChoice.@Nullable Maker now) {
    if (choices.use(now)) {
      loop.execute(subsetUpdater::updateSubset);
    }
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
      queue.monitor().status(now);
    });
  }

  private ThrottlerOptions optionsOf(Revision now) {
    return defaults.with(now.annotations(),
        problem -> log.warn("{}: {}; it is ignored", id, problem));
  }

  /** @param now null when pods may start again */
  void onContainerFailure(@Nullable RevisionStartFailure now) {
    loop.execute(() -> queue.monitor().pods(now));
  }

  /**
   * @param read whether the pods are read
   * @param node how long the node that is added for them usually takes; zero if none is
   */
  void onStartProgress(boolean read, Duration node) {
    queue.monitor().podsRead(read);
    loop.execute(() -> estimator.nodeAwaited(node));
  }

  void rejectQueued() {
    loop.execute(() -> queue.rejectAll(new Rejection.ShuttingDown(id)));
  }

  /** Rejects queued requests; running ones continue. */
  void end() {
    loop.execute(() -> {
      subsetUpdater.end();
      queue.end();
    });
  }

  void onDestinations(HealthyDestinations now) {
    loop.execute(() -> {
      subsetUpdater.onDestinations(now);
      if (now.unreachable()) {
        queue.onUnreachable();
      }
    });
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
  public boolean requestsChoose() {
    return choices.areUsed();
  }

  @Override
  public boolean isExclusive() {
    return choices.areExclusive();
  }

  @Override
  public int tenantLimit() {
    int limit = revision.containerConcurrency();
    return limit == 0 ? Integer.MAX_VALUE : limit;
  }

  @Override
  public void onUnreachable(Destination destination) {
    listener.onUnreachable(destination);
  }

  @Override
  public void onSubset() {
    queue.onSubset(subsetUpdater.hasDestinations());
  }

  @Override
  public int queueBound() {
    return options.queueBound(sharing.queuedElsewhere());
  }

  @Override
  public @Nullable List<Destination> choosable() {
    return subsetUpdater.choosable();
  }

  @Override
  public boolean isWithdrawn(Destination destination) {
    return subsetUpdater.isWithdrawn(destination);
  }

  @Override
  public boolean isUnreachable() {
    return subsetUpdater.isUnreachable();
  }

  @Override
  public void eject(Destination destination) {
    subsetUpdater.eject(destination);
  }

  @Override
  public void onQueue() {
    sharing.onQueue();
  }

  @Override
  public void grant() {
    queue.grant();
  }

  ThrottleView view() {
    var pods = permits.view();
    int inFlight = pods.stream().mapToInt(ThrottleView.PodLoad::inFlight).sum();
    return new ThrottleView(id, revision.containerConcurrency(), permits.ownCapacity(), inFlight,
        permits.queued(), oldestWait(), queue.waiting().order().at(loop.nanoTime()).newestFirst(),
        pods);
  }

  @Override
  public int queued() {
    // A tenant needs one pod, however many of its requests wait.
    return isExclusive() ? queue.waiting().sizeWithoutPod() : queue.waiting().size();
  }

  @Override
  public Map<Destination, Integer> queuedByPod() {
    return queue.waiting().byPod().wanted();
  }

  @Override
  public int queuedForAnyPod() {
    return queue.waiting().sizeForAnyPod();
  }

  @Override
  public long oldestNanos() {
    var first = isExclusive() ? queue.waiting().firstWithoutPod() : queue.waiting().first();
    return first == null ? loop.nanoTime() : first.sinceNanos();
  }

  @Override
  public void updateSubset() {
    subsetUpdater.updateSubset();
  }

  private Duration oldestWait() {
    var oldest = queue.waiting().oldest();
    return oldest == null ? Duration.ZERO : waitOf(oldest);
  }

  private Duration waitOf(QueuedRequest request) {
    return Duration.ofNanos(Math.max(0, loop.nanoTime() - request.sinceNanos()));
  }

  ThrottleView.Start start() {
    return new ThrottleView.Start(estimator.startingFor(), estimator.usualStart(),
        queue.monitor().failure(revision));
  }

  /** The details for a report. Call on the loop. */
  ThrottleView.Details inspect() {
    var waiting = queue.waiting();
    return new ThrottleView.Details(view(), permits.destinationCount(),
        new ThrottleView.Queue(options.queueCapacity(), queue.heldBytes().get(), options.waits(),
            waiting.isEmpty()
                ? List.of()
                : waiting.oldest(MAX_LISTED_WAITS).map(this::waitOf).toList(),
            waiting.isEmpty() ? Map.of() : waiting.from(MAX_SOURCES),
            new ThrottleView.Bound(waiting.byPod().byPod(), waiting.byPod().ofSeveral()),
            isExclusive() ? waiting.sizeWithoutPod() : null),
        start(),
        subsetUpdater.activator(), subsetUpdater.ejected(), revision.rules(), sharing.view());
  }
}
