package dev.activator.throttle;

import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodTransport;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.throttle.PermitSharing.LocalRevision;
import dev.activator.throttle.PermitSharing.RevisionSharing;
import dev.activator.throttle.PermitSharing.SharedPods;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.policy.Balancer;
import dev.activator.throttle.policy.DestinationSubset;
import dev.activator.throttle.policy.NonEjectedDestinations;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Admits the requests of one revision: a request gets a permit at once, or enters the
 * {@link RevisionQueue}. Its permits are those of the {@link DestinationSubset}, which is computed again
 * when destinations, activators or the revision change, and when a destination cannot be reached.
 *
 * <p><b>Threads.</b> Any, but the loop for {@link #inspect}, {@link #eject} and the methods of
 * {@link PermitSharing.LocalQueue}.
 *
 * <p><b>Source.</b> Knative's {@code revisionThrottler}. There a new request can overtake a queued
 * one, because the revision and each pod have separate semaphores.
 */
final class RevisionThrottler implements PermitSharing.LocalQueue {
  private static final Logger log = LoggerFactory.getLogger(RevisionThrottler.class);

  /** The maximum number of log lines about capacity in ten seconds. Metrics show what is left out. */
  static final int MAX_CAPACITY_LINES = 100;
  /** So that a line is written after the requests that a pod lets run, of other loops, too. */
  static final Duration LOG_DELAY = Duration.ofMillis(20);
  /** How long an ejection lasts, unless a probe ends it sooner. */
  private static final Duration EJECTION = Duration.ofMillis(250);
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
  private final LogLimit ownLines = new LogLimit();
  private final LogLimit capacityLines;
  private final Throttler.Topics topics;
  private volatile Revision revision;
  private volatile ThrottlerOptions options;
  private volatile NonEjectedDestinations eligible;
  private volatile @Nullable List<Destination> choosable = List.of();
  /** The end of the last ejection, by the loop's clock. */
  private volatile long ejectedUntilNanos;

  /** @param capacityLines limits the log lines of all revisions together */
  RevisionThrottler(Loop loop, Revision revision, ThrottlerOptions defaults, RandomGenerator random,
      PermitSharing sharing, LogLimit capacityLines, Throttler.Topics topics) {
    this.topics = topics;
    this.id = revision.id();
    this.loop = loop;
    this.ejectedUntilNanos = loop.nanoTime();
    this.defaults = defaults;
    this.capacityLines = capacityLines;
    this.revision = revision;
    this.options = optionsOf(revision);
    this.eligible = NonEjectedDestinations.initial(id);
    this.estimator = new WaitEstimator(loop, id.hashCode());
    this.queue = new RevisionQueue(loop, revision, random, estimator, this, topics);
    this.choices = queue.choices();
    this.permits = queue.permits();
    this.sharing = sharing.revision(new LocalRevision(id, loop, permits, this), withoutPods());
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

  RevisionPermits permits() {
    return permits;
  }

  /** @param now null if the balancer chooses the pods */
  void choose(PodChoice.@Nullable Maker now) {
    if (choices.use(now)) {
      loop.execute(this::updateSubset);
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
        updateSubset();
      }
      queue.monitor().status(now);
    });
  }

  private ThrottlerOptions optionsOf(Revision now) {
    return defaults.with(now.annotations(),
        problem -> log.warn("{}: {}", id, problem));
  }

  /** @param now null when pods may start again */
  void onContainerFailure(@Nullable RevisionStartFailure now) {
    loop.execute(() -> queue.monitor().pods(now));
  }

  /**
   * @param read whether an extension watches the pods now
   * @param node how long the node that is added for them usually takes; zero if none is
   */
  void onStartProgress(boolean read, Duration node) {
    loop.execute(() -> {
      queue.monitor().podsRead(read);
      estimator.nodeAwaited(node);
    });
  }

  void rejectQueued() {
    loop.execute(() -> queue.rejectAll(new Rejection.ShuttingDown(id)));
  }

  /** Rejects queued requests; running ones continue. */
  void end() {
    loop.execute(() -> {
      permits.setDestinations(DestinationSubset.NONE, PodTransport.PLAIN, DestinationSet.NONE,
          Balancer.FIRST_AVAILABLE, 0, false);
      sharing.close();
      queue.end();
    });
  }

  void onDestinations(HealthyDestinations now) {
    loop.execute(() -> {
      eligible = eligible.withHealthy(now);
      updateSubset();
      if (now.givenUp()) {
        queue.onGivenUp();
      }
    });
  }

  void onPublicAddresses(PublicEndpointAddresses addresses, String own) {
    loop.execute(() -> {
      var activators = addresses.on(revision.protocol());
      var before = eligible.activator();
      eligible = eligible.withActivators(activators, own);
      var now = eligible.activator();
      if (!now.equals(before)) {
        log.info("{}: this is activator {} of {}", id, now.index() + 1, now.activators());
        updateSubset();
      }
      sharing.onActivators(activators);
    });
  }

  /** Call when a request could not be delivered to the destination. */
  void eject(Destination destination) {
    if (permits.contains(destination)) {
      ownLines.log(loop.nanoTime(),
          others -> log.info("{}: {} could not be reached; it gets no requests"
              + " for {} ms, unless it answers a probe; {} more such failures since the last line",
              id, destination, EJECTION.toMillis(), others));
      ejectedUntilNanos = loop.nanoTime() + EJECTION.toNanos();
      eligible = eligible.eject(destination, ejectedUntilNanos);
      updateSubset();
      loop.schedule(EJECTION, this::updateSubset);
      topics.unreachable().publish(new Throttler.Unreachable(id, destination));
    }
  }

  @Override
  public void updateSubset() {
    if (queue.isDeleted()) {
      return;
    }
    var before = permits.subset();
    int concurrency = limit();
    long now = loop.nanoTime();
    var healthy = eligible.healthy();
    boolean canShare = shared(concurrency) > 0 && healthy.clusterIp() == null;
    boolean lends = canShare && sharing.isActive();
    // A request that belongs to a pod has to reach it from each activator. The pod's queue-proxy then
    // keeps the limit.
    var alone = choices.areUsed() && !isExact() ? eligible.undivided() : eligible;
    var used = lends ? eligible.undivided() : alone;
    var after = used.subset(concurrency, now);
    choosable = used.choosable(concurrency, after);
    estimator.onSubset(before, after);
    permits.setDestinations(after, healthy.transport(), eligible.podsBehindClusterIp(),
        options.balancer(concurrency), concurrency == 0 ? options.slowStart() : 0, lends);
    sharing.onPods(canShare
        ? new SharedPods(healthy.pods().all(), eligible.ejected(now), Set.copyOf(
            DestinationSubset.of(healthy, alone.activator(), concurrency).destinations()),
            concurrency, isExact(), revision.timeouts().overall())
        : withoutPods());
    queue.onSubset(healthy.clusterIp() != null || !healthy.pods().isEmpty());
    if (!after.equals(before)) {
      loop.schedule(LOG_DELAY, () -> logCapacity(before, after));
    }
  }

  /** The value while the revision has no pod whose permits can be shared. */
  private SharedPods withoutPods() {
    return SharedPods.withoutPods(shared(limit()), isExact(), revision.timeouts().overall());
  }

  /** Each pod has a single permit if it serves one tenant at a time. */
  private int limit() {
    return choices.areExclusive() ? 1 : revision.containerConcurrency();
  }

  /** The limit of each pod; 0 if there is none, or if it is too high to be shared. */
  private static int shared(int concurrency) {
    return concurrency < PodTracker.ALL ? concurrency : 0;
  }

  /**
   * Whether the limit must be kept even if starts take longer. A queue-proxy would keep the limit
   * itself, but knows no tenants.
   */
  private boolean isExact() {
    return choices.areExclusive() || !revision.hasQueueProxy();
  }

  /**
   * Logs a change from or to zero at INFO. Other changes are too many for that, and are logged at
   * DEBUG.
   */
  private void logCapacity(DestinationSubset before, DestinationSubset now) {
    boolean fromOrToZero = before.destinations().isEmpty() || now.destinations().isEmpty();
    long nanos = loop.nanoTime();
    // A revision without a uid is not in Kubernetes.
    if (fromOrToZero && !revision.uid().isEmpty() && ownLines.isDue(nanos)) {
      capacityLines.log(nanos, others -> logCapacity(Level.INFO, before, now,
          others == 0 ? "" : "; " + others + " more such lines were left out"));
    } else {
      logCapacity(Level.DEBUG, before, now, "");
    }
  }

  private void logCapacity(Level level, DestinationSubset before, DestinationSubset now,
      String others) {
    log.atLevel(level).log("{}: capacity {} (destinations: {}), was {} ({}){}", id,
        capacityText(now.capacity()), now.destinations().size(), capacityText(before.capacity()),
        before.destinations().size(), others);
  }

  private static Object capacityText(int capacity) {
    return capacity == DestinationSubset.UNLIMITED ? "unlimited" : capacity;
  }

  /** <b>Threads.</b> Any. */
  boolean isOfTcp() {
    return revision.protocol() == PortProtocol.TCP;
  }

  /** <b>Threads.</b> Any. */
  ThrottlerOptions options() {
    return options;
  }

  /** How many requests of a tenant may run on its pod. <b>Threads.</b> Any. */
  int tenantLimit() {
    int limit = revision.containerConcurrency();
    return limit == 0 ? Integer.MAX_VALUE : limit;
  }

  /** How many requests may be queued here. <b>Threads.</b> Any. */
  int queueBound() {
    return options.queueBound(sharing.queuedElsewhere());
  }

  /**
   * The pods that requests may choose, ejected or not; null if requests are sent to a ClusterIP, so
   * that none can choose. <b>Threads.</b> Any.
   */
  @Nullable List<Destination> choosable() {
    return choosable;
  }

  /**
   * Whether a destination is no longer published. An ejected one is still published.
   * <b>Threads.</b> Any.
   */
  boolean isWithdrawn(Destination destination) {
    var healthy = eligible.healthy();
    return !healthy.pods().contains(destination) && !destination.equals(healthy.clusterIp());
  }

  /** Whether a destination was ejected a moment ago, and is probably back soon. <b>Threads.</b> Any. */
  boolean hasJustEjected() {
    return ejectedUntilNanos - loop.nanoTime() > 0;
  }

  /** Whether no pod accepts connections any more. */
  boolean isGivenUp() {
    return eligible.healthy().givenUp();
  }

  /** Call when requests have entered or left the queue, or permits were released. */
  void onQueue() {
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
        permits.queued(), oldestWait(), queue.requests().order().at(loop.nanoTime()).newestFirst(),
        pods);
  }

  @Override
  public int queued() {
    // A tenant needs one pod, however many of its requests wait.
    return choices.areExclusive() ? queue.requests().sizeWithoutPod() : queue.requests().size();
  }

  @Override
  public Map<Destination, Integer> queuedByPod() {
    return queue.requests().podBound().wanted();
  }

  @Override
  public int queuedForAnyPod() {
    return queue.requests().sizeForAnyPod();
  }

  @Override
  public long oldestNanos() {
    var first = choices.areExclusive()
        ? queue.requests().firstWithoutPod()
        : queue.requests().first();
    return first == null ? loop.nanoTime() : first.sinceNanos();
  }

  private Duration oldestWait() {
    var oldest = queue.requests().oldest();
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
    var requests = queue.requests();
    return new ThrottleView.Details(view(), permits.destinationCount(),
        new ThrottleView.Queue(options.queueCapacity(), queue.heldBytes().get(), options.waits(),
            requests.isEmpty()
                ? List.of()
                : requests.oldest(MAX_LISTED_WAITS).map(this::waitOf).toList(),
            requests.isEmpty() ? Map.of() : requests.from(MAX_SOURCES),
            new ThrottleView.Bound(requests.podBound().byPod(), requests.podBound().ofSeveral()),
            choices.areExclusive() ? requests.sizeWithoutPod() : null),
        start(),
        eligible.activator(), List.copyOf(eligible.ejected(loop.nanoTime())), revision.rules(),
        sharing.view());
  }
}
