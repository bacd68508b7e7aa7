package dev.activator.throttle;

import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodTransport;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.Revision;
import dev.activator.throttle.PermitSharing.RevisionSharing;
import dev.activator.throttle.PermitSharing.SharedPods;
import dev.activator.throttle.policy.ActivatorIndex;
import dev.activator.throttle.policy.Balancer;
import dev.activator.throttle.policy.DestinationSubset;
import dev.activator.throttle.policy.ThrottlerOptions;
import dev.activator.throttle.policy.NonEjectedDestinations;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Recomputes the {@link DestinationSubset} when destinations or activators change, and ejects
 * unreachable destinations.
 *
 * <p><b>Threads.</b> The revision's loop; any for {@link #isWithdrawn} and {@link #choosable}.
 */
final class DestinationSubsetUpdater {
  /** The throttler of the revision. Each method is called on the revision's loop. */
  interface Owner {
    Revision revision();

    ThrottlerOptions options();

    /** Whether requests choose among the pods. */
    boolean requestsChoose();

    /** Whether each pod serves one tenant at a time, so that it has a single permit. */
    boolean isExclusive();

    /** Permits or destinations may have changed. */
    void onSubset();

    /** A destination was ejected, because a request could not be delivered to it. */
    void onUnreachable(Destination destination);
  }

  private static final Logger log = LoggerFactory.getLogger(DestinationSubsetUpdater.class);

  /**
   * The maximum number of log lines in ten seconds. Metrics show the starts of a cluster with more.
   */
  static final int MAX_CAPACITY_LINES = 100;

  /** How long an ejection lasts, unless a probe ends it sooner. */
  private static final Duration EJECTION = Duration.ofMillis(250);
  /** So that a line is written after the requests that a pod lets run, of other loops, too. */
  static final Duration LOG_DELAY = Duration.ofMillis(20);

  private final Loop loop;
  private final RevisionPermits permits;
  private final WaitEstimator estimator;
  private final RevisionSharing sharing;
  private final LogLimit limit = new LogLimit();
  private final LogLimit capacityLines;
  private final Owner owner;
  private volatile NonEjectedDestinations eligible;
  private volatile @Nullable List<Destination> choosable = List.of();
  private boolean ended;

  /** @param capacityLines limits the log lines of all revisions together */
  DestinationSubsetUpdater(Loop loop, RevisionPermits permits, WaitEstimator estimator,
      RevisionSharing sharing, LogLimit capacityLines, Owner owner) {
    this.loop = loop;
    this.permits = permits;
    this.estimator = estimator;
    this.sharing = sharing;
    this.capacityLines = capacityLines;
    this.owner = owner;
    this.eligible = NonEjectedDestinations.initial(owner.revision().id());
  }

  void onDestinations(HealthyDestinations now) {
    eligible = eligible.withHealthy(now);
    updateSubset();
  }

  void onActivators(PublicEndpointAddresses addresses, String own) {
    var revision = owner.revision();
    var before = eligible.activator();
    eligible = eligible.withActivators(addresses.on(revision.protocol()), own);
    var now = eligible.activator();
    if (!now.equals(before)) {
      log.info("{}: this is activator {} of {}", revision.id(), now.index() + 1, now.activators());
      updateSubset();
    }
    sharing.onActivators(addresses.on(revision.protocol()));
  }

  void eject(Destination destination) {
    if (permits.contains(destination)) {
      limit.log(loop.nanoTime(),
          others -> log.info("{}: {} could not be reached; it gets no requests"
              + " for {} ms, unless it answers a probe; {} more such failures since the last line",
              owner.revision().id(), destination, EJECTION.toMillis(), others));
      eligible = eligible.eject(destination, loop.nanoTime() + EJECTION.toNanos());
      updateSubset();
      loop.schedule(EJECTION, this::updateSubset);
      owner.onUnreachable(destination);
    }
  }

  void updateSubset() {
    if (ended) {
      return;
    }
    var revision = owner.revision();
    var options = owner.options();
    var before = permits.subset();
    int concurrency = limit();
    long now = loop.nanoTime();
    boolean canShare = shared(concurrency) > 0 && eligible.healthy().clusterIp() == null;
    boolean shares = canShare && sharing.isActive();
    var divided = shares || usesAllPods(revision) ? eligible.undivided() : eligible;
    var after = divided.subset(concurrency, now);
    choosable = divided.choosable(concurrency, after);
    estimator.onSubset(before, after);
    permits.setDestinations(after, eligible.healthy().transport(), eligible.podsBehindClusterIp(),
        options.balancer(concurrency), concurrency == 0 ? options.slowStart() : 0, shares);
    sharing.onPods(canShare
        ? sharedPods(revision, now)
        : withoutPods(revision, concurrency, isExact(revision)));
    owner.onSubset();
    if (!after.equals(before)) {
      loop.schedule(LOG_DELAY, () -> logCapacity(before, after));
    }
  }

  private int limit() {
    return owner.isExclusive() ? 1 : owner.revision().containerConcurrency();
  }

  /** The limit of each pod; 0 if there is none, or if it is too high to be shared. */
  private static int shared(int concurrency) {
    return concurrency < PodTracker.ALL ? concurrency : 0;
  }

  /** The value before the revision has a pod. */
  static SharedPods withoutPods(Revision revision) {
    return withoutPods(revision, revision.containerConcurrency(), hasNoQueueProxy(revision));
  }

  /** The value while the revision has no pod whose permits can be shared. */
  private static SharedPods withoutPods(Revision revision, int concurrency, boolean exact) {
    return SharedPods.withoutPods(shared(concurrency), exact, revision.timeouts().overall());
  }

  /**
   * Whether the limit must be kept even if starts take longer. A queue-proxy would keep the limit
   * itself, but knows no tenants.
   */
  private boolean isExact(Revision revision) {
    return owner.isExclusive() || hasNoQueueProxy(revision);
  }

  private static boolean hasNoQueueProxy(Revision revision) {
    return revision.readinessProbe() != null;
  }

  /**
   * Whether each activator uses all pods even if permits are not shared: a request that belongs to a
   * pod has to reach it from each activator. The pod's queue-proxy keeps the limit.
   */
  private boolean usesAllPods(Revision revision) {
    return owner.requestsChoose() && !isExact(revision);
  }

  private SharedPods sharedPods(Revision revision, long now) {
    int concurrency = limit();
    var healthy = eligible.healthy();
    var divided = usesAllPods(revision) ? eligible.undivided() : eligible;
    return new SharedPods(healthy.pods().all(), eligible.ejected(now),
        Set.copyOf(
            DestinationSubset.of(healthy, divided.activator(), concurrency).destinations()),
        concurrency, isExact(revision), revision.timeouts().overall());
  }

  /**
   * Logs a change from or to zero at INFO. Other changes are too many for that, and are logged at
   * DEBUG.
   */
  private void logCapacity(DestinationSubset before, DestinationSubset now) {
    boolean fromOrToZero = before.destinations().isEmpty() || now.destinations().isEmpty();
    // A revision without a uid is not in Kubernetes.
    long nanos = loop.nanoTime();
    if (fromOrToZero && !owner.revision().uid().isEmpty() && limit.isDue(nanos)) {
      capacityLines.log(nanos, others -> logCapacity(Level.INFO, before, now,
          others == 0 ? "" : "; " + others + " more such lines were left out"));
    } else {
      logCapacity(Level.DEBUG, before, now, "");
    }
  }

  private void logCapacity(Level level, DestinationSubset before, DestinationSubset now,
      String others) {
    log.atLevel(level).log("{}: capacity {} on {} destinations, was {} on {}{}",
        owner.revision().id(),
        capacityText(now.capacity()), now.destinations().size(), capacityText(before.capacity()),
        before.destinations().size(), others);
  }

  private static Object capacityText(int capacity) {
    return capacity == DestinationSubset.UNLIMITED ? "unlimited" : capacity;
  }

  void end() {
    ended = true;
    permits.setDestinations(DestinationSubset.NONE, PodTransport.PLAIN, DestinationSet.NONE,
        Balancer.FIRST_AVAILABLE, 0, false);
    sharing.close();
  }

  /** Whether a destination is no longer published. An ejected one is still published. */
  boolean isWithdrawn(Destination destination) {
    var healthy = eligible.healthy();
    return !healthy.pods().contains(destination) && !destination.equals(healthy.clusterIp());
  }

  /** Whether a destination is published, ejected or not. */
  boolean hasDestinations() {
    var healthy = eligible.healthy();
    return healthy.clusterIp() != null || !healthy.pods().isEmpty();
  }

  /**
   * The pods that requests may choose, ejected or not; null if requests are sent to a ClusterIP, so
   * that none can choose.
   */
  @Nullable List<Destination> choosable() {
    return choosable;
  }

  boolean isUnreachable() {
    return eligible.healthy().unreachable();
  }

  ActivatorIndex activator() {
    return eligible.activator();
  }

  List<Destination> ejected() {
    return List.copyOf(eligible.ejected(loop.nanoTime()));
  }
}
