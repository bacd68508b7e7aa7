package dev.activator.throttle;

import dev.activator.throttle.PermitSharing.PermitLease;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodTransport;
import dev.activator.throttle.PodBoundRequests.WaitsFor.TenantsPod;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.PermitSharing.PodPermits;
import dev.activator.throttle.policy.Balancer;
import dev.activator.throttle.policy.DestinationSubset;
import dev.activator.throttle.policy.InFlightCarryOver;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The permits of one revision. While requests are queued, new requests get no permit, so they
 * cannot overtake. If all that are queued wait for one pod each, new requests get the permits of
 * other pods.
 *
 * <p>No wake-up is lost. A request first increments the queued count, and then tries again on the
 * loop. A release first returns the permit, and then reads the count. All of these are volatile
 * accesses in program order, so either the request sees the permit, or the release sees the
 * request. A request that waits for one pod is counted in {@link PodBoundRequests} before it is no longer
 * counted here, and a release reads these counts in the opposite order.
 *
 * <p><b>Threads.</b> Any; {@link #setDestinations} and {@link #dropClosedIdle} only on the revision's loop.
 */
final class RevisionPermits implements PodPermits {
  /** Called on the thread that releases a permit. */
  interface Owner {
    /** A permit was released and requests are queued, or a closed destination became idle. */
    void grantSoon();

    long nanoTime();

    /** Whether a destination is no longer published. */
    default boolean isWithdrawn(Destination destination) {
      return false;
    }

    /**
     * Releases the permit, and queues the request again; null if the request may not be retried.
     */
    @Nullable QueueEntry retry(Permit permit, QueuedCaller caller, boolean connected);
  }

  /**
   * @param pods in order; never modified
   * @param limit the limit of each pod, unless its slow-start window is smaller
   */
  @SuppressWarnings("ArrayRecordComponent") // read on every request, never compared
  private record Snapshot(PodTracker[] pods, int limit, int capacity, Balancer balancer)
      implements Balancer.Loads {
    private static final Snapshot NONE = new Snapshot(new PodTracker[0], 0, 0,
        Balancer.FIRST_AVAILABLE);

    /** The same, without the other pods. */
    Snapshot only(Predicate<Destination> usable) {
      return new Snapshot(Stream.of(pods).filter(pod -> usable.test(pod.destination()))
          .toArray(PodTracker[]::new), limit, capacity, balancer);
    }

    @Override
    public int size() {
      return pods.length;
    }

    @Override
    public int inFlight(int position) {
      return pods[position].load();
    }

    @Override
    public boolean hasRoom(int position) {
      return pods[position].hasRoom(limit);
    }
  }

  /** How many closed destinations are remembered because they refused requests. */
  static final int REMEMBERED = 256;

  static final Predicate<Destination> ANY_POD = _ -> true;

  private final RandomGenerator random;
  private final Owner owner;
  private final PodBoundRequests podBound;
  private final Predicate<Destination> notAwaited;
  /** The queued requests that are not in {@code podBound}. */
  private final AtomicInteger queued = new AtomicInteger();
  private final AtomicInteger cursor = new AtomicInteger();
  /** Those that were listed last are the last. */
  private final SequencedMap<Destination, PodTracker> known = new LinkedHashMap<>(4);
  private volatile Snapshot snapshot = Snapshot.NONE;
  private volatile List<PodTracker> pods = List.of();
  /** Closed destinations whose running requests are counted on pods of the snapshot. */
  private volatile List<PodTracker> carriedFrom = List.of();
  /** The first slow-start window of new destinations; 0 for no limit. */
  private volatile int firstWindow;
  /**
   * Whether permits are lent, so that only those that this activator has can be acquired. Used on
   * the loop only.
   */
  private boolean lent;

  /** @param random must be thread-safe */
  RevisionPermits(RandomGenerator random, PodBoundRequests podBound, Owner owner) {
    this.random = random;
    this.podBound = podBound;
    this.notAwaited = pod -> !podBound.isAwaited(pod);
    this.owner = owner;
  }

  /** Acquires a permit that no queued request can use; null if there is none. */
  @Nullable Permit tryAcquire() {
    return isQueuing() ? null : acquire(podBound.size() == 0 ? ANY_POD : notAwaited);
  }

  /** Like {@link #acquireFor}, but of those permits that no queued request can use. */
  @Nullable PodTracker tryAcquireFor(PodChoice choice, Predicate<Destination> allowed) {
    return isQueuing() ? null : acquireFor(choice, allowed.and(notAwaited));
  }

  /** Like {@link #acquireAt}, but null if a queued request can use the permit. */
  @Nullable Permit tryAcquireAt(Destination destination) {
    return isQueuing() || podBound.isAwaited(destination) ? null : acquireAt(destination);
  }

  /** Whether requests are queued that may run on any pod, or on the tenant's. */
  boolean isQueuingFor(TenantsPod pod) {
    return isQueuing() || podBound.isAwaited(pod);
  }

  /** Whether requests are queued that may run on any pod. */
  boolean isQueuing() {
    return queued.get() != 0;
  }

  @Nullable Permit acquireForNext() {
    return acquire(ANY_POD);
  }

  private @Nullable Permit acquire(Predicate<Destination> usable) {
    while (true) {
      var now = usable == ANY_POD ? snapshot : snapshot.only(usable);
      int start = cursor.getOpaque();
      int position = now.balancer().pick(now, start, random);
      if (position == Balancer.NONE) {
        return null;
      }
      var pod = now.pods()[position];
      if (pod.tryAcquire(now.limit())) {
        // Two threads may advance the cursor from the same position, which is harmless.
        int next = now.balancer().cursorAfter(position, start);
        if (next != start) {
          cursor.setOpaque(next);
        }
        return pod;
      }
    }
  }

  /**
   * Acquires a permit of the pod with the highest score of those that are allowed and have room; null
   * if there is none.
   */
  @Nullable PodTracker acquireFor(PodChoice choice, Predicate<Destination> allowed) {
    while (true) {
      var now = snapshot;
      @Nullable PodTracker best = null;
      long highest = 0;
      for (var pod : now.pods()) {
        if (pod.hasRoom(now.limit()) && allowed.test(pod.destination())) {
          long score = choice.score(pod.destination());
          if (best == null || score > highest) {
            best = pod;
            highest = score;
          }
        }
      }
      if (best == null || best.tryAcquire(now.limit())) {
        return best;
      }
    }
  }

  /** Acquires a permit of this pod; null if it has no room, or gets no requests now. */
  @Nullable Permit acquireAt(Destination destination) {
    var now = snapshot;
    var pod = find(now, destination);
    return pod != null && pod.hasRoom(now.limit()) && pod.tryAcquire(now.limit()) ? pod : null;
  }

  /** The requests that run on this pod or wait for it only. */
  int load(Destination destination) {
    var pod = find(snapshot, destination);
    return (pod == null ? 0 : pod.inFlight()) + podBound.waitingFor(destination);
  }

  /** A permit of this pod, even if it has no room; null if it gets no requests now. */
  @Nullable Permit acquireUnlimited(Destination destination) {
    var pod = find(snapshot, destination);
    return pod != null && pod.acquireUnlimited() ? pod : null;
  }

  boolean hasRoom() {
    var now = snapshot;
    for (var pod : now.pods()) {
      if (pod.hasRoom(now.limit())) {
        return true;
      }
    }
    return false;
  }

  List<Destination> withRoom() {
    var now = snapshot;
    return Stream.of(now.pods()).filter(pod -> pod.hasRoom(now.limit()))
        .map(PodTracker::destination).toList();
  }

  private static @Nullable PodTracker find(Snapshot now, Destination destination) {
    for (var pod : now.pods()) {
      if (pod.destination().equals(destination)) {
        return pod;
      }
    }
    return null;
  }

  boolean hasRoomOtherThan(Destination failed) {
    return withRoom().stream().anyMatch(pod -> !pod.equals(failed));
  }

  boolean tryEnter(int queueBound) {
    int now = queued.get();
    while (now + podBound.size() < queueBound) {
      if (queued.compareAndSet(now, now + 1)) {
        return true;
      }
      now = queued.get();
    }
    return false;
  }

  /**
   * Enters the queue even if it is full, because the request had a permit before, or is about to leave
   * the queue of its pod.
   */
  void enterAgain() {
    queued.getAndIncrement();
  }

  /** Call for a request that leaves the queue, or waits for one pod from now on. */
  void leave() {
    queued.getAndDecrement();
  }

  /** The number of queued requests, including those on their way to the queue. */
  int queued() {
    return queued.get() + podBound.size();
  }

  void released(boolean closed) {
    if (closed || isQueuing() || podBound.size() != 0 || !carriedFrom.isEmpty()) {
      owner.grantSoon();
    }
  }

  void broken(PodTracker pod) {
    if (firstWindow > 0) {
      pod.narrow();
      if (firstWindow == 0) {
        // Slow start was switched off in the meantime.
        pod.endSlowStart();
      }
    }
  }

  /**
   * Switches to these destinations. Requests that run on other destinations still count.
   *
   * @param transport how they are reached
   * @param behindClusterIp the pods behind the ClusterIP, if that is the destination
   * @param firstWindow the first slow-start window of new destinations; 0 for no limit
   * @param lending whether {@link #setPermits} sets the number of permits; new destinations then have
   *     none
   */
  void setDestinations(DestinationSubset subset, PodTransport transport,
      DestinationSet behindClusterIp, Balancer balancer, int firstWindow, boolean lending) {
    this.firstWindow = firstWindow;
    if (lent != lending) {
      lent = lending;
      known.values().forEach(pod -> pod.setPermits(lending ? 0 : PodTracker.ALL, null));
    }
    var now = subset.destinations().stream().map(it -> pod(it, !behindClusterIp.isEmpty()))
        .toArray(PodTracker[]::new);
    var open = Set.of(now);
    // Closed before others open, so that the number of their requests can only fall.
    carriedFrom = known.values().stream().filter(pod -> !open.contains(pod)
        && (pod.isClusterIp() || behindClusterIp.contains(pod.destination()))).toList();
    carriedFrom.forEach(PodTracker::close);
    known.values().stream().filter(pod -> !open.contains(pod)).forEach(pod -> pod.carry(0));
    carry(now, subset.limit());
    for (var pod : now) {
      pod.open(firstWindow > 0 ? firstWindow : DestinationSubset.UNLIMITED, transport);
    }
    if (firstWindow == 0) {
      known.values().forEach(PodTracker::endSlowStart);
    }
    snapshot = new Snapshot(now, subset.limit(), subset.capacity(), balancer);
    // Published last, so that a request that finds a pod closed sees the new snapshot when it retries.
    known.values().stream().filter(pod -> !open.contains(pod)).forEach(PodTracker::close);
    dropIdle();
    pods = List.copyOf(known.values());
  }

  /** Counts requests of closed destinations against the current ones. */
  void updateCarried() {
    if (!carriedFrom.isEmpty()) {
      carriedFrom = carriedFrom.stream().filter(pod -> pod.inFlight() > 0).toList();
      carry(snapshot.pods(), snapshot.limit());
    }
  }

  private void carry(PodTracker[] to, int limit) {
    int left = 0;
    for (var pod : carriedFrom) {
      left += pod.inFlight();
    }
    var carried = new int[to.length];
    var inFlight = new int[to.length];
    for (int i = 0; i < to.length; i++) {
      carried[i] = to[i].carried();
      inFlight[i] = to[i].inFlight();
    }
    var dealt = InFlightCarryOver.deal(left, carried, inFlight, limit);
    // Increments first, so that each request is always counted.
    for (int i = 0; i < to.length; i++) {
      if (dealt[i] > to[i].carried()) {
        to[i].carry(dealt[i]);
      }
    }
    for (int i = 0; i < to.length; i++) {
      to[i].carry(dealt[i]);
    }
  }

  private PodTracker pod(Destination destination, boolean isClusterIp) {
    var before = known.get(destination);
    var pod = before == null
        ? new PodTracker(destination, this, isClusterIp, lent ? 0 : PodTracker.ALL)
        : before;
    known.putLast(destination, pod);
    return pod;
  }

  /**
   * Drops idle closed destinations. The last of those with a narrow slow-start window stay, in case they
   * return.
   */
  private boolean dropIdle() {
    int narrow = firstWindow == 0
        ? 0
        : (int) known.values().stream().filter(this::isNarrow).count();
    var excess = new int[]{narrow - REMEMBERED};
    return known.values()
        .removeIf(pod -> pod.isClosedAndIdle() && (!isNarrow(pod) || excess[0]-- > 0));
  }

  private boolean isNarrow(PodTracker pod) {
    return pod.isClosedAndIdle() && pod.window() < firstWindow;
  }

  void dropClosedIdle() {
    if (known.size() > snapshot.size() && dropIdle()) {
      pods = List.copyOf(known.values());
    }
  }

  /** Has no effect if permits are not shared. */
  @Override
  public int setPermits(Destination destination, int permits, @Nullable PermitLease lease) {
    var pod = known.get(destination);
    if (pod == null) {
      return 0;
    }
    return lent ? pod.setPermits(permits, lease) : pod.inFlight();
  }

  @Override
  public int permits(Destination destination) {
    var pod = known.get(destination);
    return pod == null ? 0 : lent ? pod.permits() : pod.inFlight();
  }

  @Override
  public int running(Destination destination) {
    var pod = known.get(destination);
    return pod == null ? 0 : pod.running();
  }

  @Override
  public Map<Destination, Integer> running() {
    return known.values().stream().filter(pod -> pod.running() > 0)
        .collect(Collectors.toMap(PodTracker::destination, PodTracker::running));
  }

  Owner owner() {
    return owner;
  }

  /** The time until the window of a pod widens by itself; negative if no window will. */
  long nanosToNextStep() {
    long first = -1;
    if (firstWindow > 0) {
      // A plain loop, because it runs for each queued request.
      for (var pod : snapshot.pods()) {
        if (pod.isInSlowStart()) {
          long next = pod.nanosToNextStep();
          first = first < 0 ? next : Math.min(first, next);
        }
      }
    }
    return first;
  }

  /** The current destinations. */
  DestinationSubset subset() {
    var now = snapshot;
    return new DestinationSubset(Stream.of(now.pods()).map(PodTracker::destination).toList(),
        now.limit(), now.capacity());
  }

  boolean contains(Destination destination) {
    return find(snapshot, destination) != null;
  }

  int destinationCount() {
    return snapshot.size();
  }

  int capacity() {
    return snapshot.capacity();
  }

  /** The capacity of this activator, without permits that are lent or whose lease is over. */
  int ownCapacity() {
    var now = snapshot;
    int sum = 0;
    for (var pod : now.pods()) {
      int usable = pod.usable();
      if (usable == PodTracker.ALL) {
        return now.capacity();
      }
      sum += Math.min(usable, now.limit());
    }
    return sum;
  }

  /** The requests in flight, including those of closed destinations. */
  int inFlight() {
    return pods.stream().mapToInt(PodTracker::inFlight).sum();
  }

  List<ThrottleView.PodLoad> view() {
    return pods.isEmpty()
        ? List.of()
        : pods.stream().filter(pod -> !pod.isClosedAndIdle())
            .map(pod -> new ThrottleView.PodLoad(pod.destination(), pod.inFlight()))
            .sorted(Comparator.comparing(ThrottleView.PodLoad::destination)).toList();
  }
}
