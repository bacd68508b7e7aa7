package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.policy.AdaptiveLifo;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The order in {@link RevisionQueue}. Requests that were returned because they could not be delivered run
 * first, then the others in order of arrival.
 *
 * <p>While {@link AdaptiveLifo} is newest first, the others run in three groups:
 *
 * <ol>
 * <li>requests that arrived after that began, newest first
 * <li>older ones that will probably be served in time
 * <li>older ones whose callers will probably leave before
 * </ol>
 *
 * <p>Requests that may run on certain pods only wait apart from these, in {@link PodBoundRequests}. A permit that
 * both can use goes to the older one, or to the younger one while the newest is first.
 *
 * <p><b>Threads.</b> The revision's loop. Any thread may call {@link #oldest()} and {@link #order}.
 */
final class OrderedRequests {
  private static final Logger log = LoggerFactory.getLogger(OrderedRequests.class);

  /** The empty set of a queue without requests; most revisions never queue one. */
  private static final SequencedSet<QueuedRequest> NONE = Collections.unmodifiableSequencedSet(
      new LinkedHashSet<>(0));

  private final RevisionId id;
  private SequencedSet<QueuedRequest> returned = NONE;
  /**
   * Requests that will probably not be served in time. They all arrived before those in
   * {@code inTime}.
   */
  private SequencedSet<QueuedRequest> late = NONE;
  /** The other requests, in order of arrival; usually all. */
  private SequencedSet<QueuedRequest> inTime = NONE;
  /** Whether {@code inTime} is not in this order, and sorted before it is read. */
  private boolean unsorted;
  private final PodBoundRequests podBound;
  private volatile AdaptiveLifo order = AdaptiveLifo.BY_ARRIVAL;
  private volatile @Nullable QueuedRequest oldest;

  OrderedRequests(RevisionId id, PodBoundRequests podBound) {
    this.id = id;
    this.podBound = podBound;
  }

  private static SequencedSet<QueuedRequest> modifiable(SequencedSet<QueuedRequest> set) {
    return set == NONE ? new LinkedHashSet<>() : set;
  }

  boolean isEmpty() {
    return hasNone() && podBound.size() == 0;
  }

  /** Whether no request waits that may run on several pods. */
  private boolean hasNone() {
    return returned.isEmpty() && late.isEmpty() && inTime.isEmpty();
  }

  int size() {
    return sizeForAnyPod() + podBound.size();
  }

  /** The number of requests that may run on several pods. */
  int sizeForAnyPod() {
    return returned.size() + late.size() + inTime.size();
  }

  private Stream<SequencedSet<QueuedRequest>> groups() {
    return Stream.concat(Stream.of(returned, late, inTime), podBound.groups());
  }

  /** Adds a request that may run on several pods. */
  void add(QueuedRequest request) {
    if (request.isRetry()) {
      returned = modifiable(returned);
      returned.add(request);
    } else {
      inTime = modifiable(inTime);
      inTime.add(request);
    }
  }

  /** Like {@link #add(QueuedRequest)}, for a request that has waited for one pod until now. */
  void addInOrder(QueuedRequest request) {
    unsorted |= !inTime.isEmpty() && request.isOlderThan(inTime.getLast());
    add(request);
  }

  boolean remove(QueuedRequest request) {
    var pod = request.waitsFor;
    return pod == null
        ? isRemovedFrom(inTime, request) || isRemovedFrom(late, request)
            || isRemovedFrom(returned, request)
        : podBound.remove(request, pod);
  }

  private static boolean isRemovedFrom(SequencedSet<QueuedRequest> set, QueuedRequest request) {
    return set != NONE && set.remove(request);
  }

  /**
   * The next request; null if none can run.
   *
   * @param withRoom the pods with room, of which there is one
   */
  @Nullable QueuedRequest next(long nowNanos, Supplier<List<Destination>> withRoom) {
    setOrder(order.at(nowNanos));
    var next = hasNone() ? null : nextForAnyPod(nowNanos);
    var ofPod = podBound.size() == 0 ? null : podBound.next(withRoom.get(), order);
    return next == null || ofPod != null && ofPod.runsBefore(next, order) ? ofPod : next;
  }

  private QueuedRequest nextForAnyPod(long nowNanos) {
    sortIfNeeded();
    if (!returned.isEmpty()) {
      return returned.getFirst();
    }
    if (!order.newestFirst()) {
      return late.isEmpty() ? inTime.getFirst() : late.getFirst();
    }
    if (!inTime.isEmpty() && order.overtakes(inTime.getLast().sinceNanos())) {
      return inTime.getLast();
    }
    updateLate(nowNanos);
    return inTime.isEmpty() ? late.getFirst() : inTime.getFirst();
  }

  /** The requests that choose their pods. */
  List<QueuedRequest> choosing() {
    return isEmpty()
        ? List.of()
        : groups().flatMap(SequencedSet::stream).filter(one -> one.choice() != null).toList();
  }

  /** Restores the order of arrival, after requests were moved. */
  void sort() {
    sortForAnyPod();
    podBound.sort();
  }

  private void sortIfNeeded() {
    if (unsorted) {
      sortForAnyPod();
    }
  }

  private void sortForAnyPod() {
    unsorted = false;
    inTime = PodBoundRequests.sorted(Stream.concat(late.stream(), inTime.stream()));
    late = NONE;
    returned = PodBoundRequests.sorted(returned.stream());
  }

  /** The requests that wait for certain pods. */
  PodBoundRequests podBound() {
    return podBound;
  }

  /** The number of requests that wait for pods which their tenants do not have yet. */
  int sizeWithoutPod() {
    return sizeForAnyPod() + podBound.groupsWithoutPod().mapToInt(SequencedSet::size).sum();
  }

  private void updateLate(long nowNanos) {
    // The estimates change, so some requests may be in time again.
    while (!late.isEmpty() && order.isInTime(nowNanos - late.getLast().sinceNanos())) {
      inTime = modifiable(inTime);
      inTime.addFirst(late.removeLast());
    }
    while (!inTime.isEmpty() && !order.isInTime(nowNanos - inTime.getFirst().sinceNanos())) {
      late = modifiable(late);
      late.add(inTime.removeFirst());
    }
  }

  /**
   * Empties the queue and returns its requests: first those that could not be delivered, then the
   * others in order of arrival.
   */
  List<QueuedRequest> clear() {
    var all = groups().flatMap(SequencedSet::stream).toList();
    podBound.clear();
    returned = NONE;
    late = NONE;
    inTime = NONE;
    return all;
  }

  /** The requests that have waited for longest, in descending order. */
  Stream<QueuedRequest> oldest(int max) {
    return groups().flatMap(set -> set.stream().limit(max))
        .sorted(PodBoundRequests.BY_ARRIVAL).limit(max);
  }

  /**
   * How many of the longest-waiting requests come from each address; unknown addresses are left
   * out.
   */
  Map<String, Integer> from(int max) {
    var sums = new TreeMap<String, Integer>();
    oldest(max).map(QueuedRequest::from).filter(address -> !address.isEmpty())
        .forEach(address -> sums.merge(address, 1, Integer::sum));
    return sums;
  }

  void setOrder(AdaptiveLifo now) {
    if (now.newestFirst() != order.newestFirst()) {
      log.info("{}: {}", id, now.newestFirst()
          ? "callers leave before they are served, so the newest request runs first"
          : "callers no longer leave before they are served: requests run in order of arrival");
    }
    if (now != order) {
      order = now;
    }
  }

  AdaptiveLifo order() {
    return order;
  }

  /** Of the requests that may run on several pods, the one that has been queued for the longest. */
  private @Nullable QueuedRequest firstForAnyPod() {
    sortIfNeeded();
    var first = older(null, late.isEmpty() ? inTime : late);
    // A request that was returned to the queue counts from its return, so it may be the younger
    // one.
    return older(first, returned);
  }

  /** The request that has been queued for the longest. */
  @Nullable QueuedRequest first() {
    return podBound.size() == 0 ? firstForAnyPod() : first(podBound.groups());
  }

  /** Of the requests that wait for pods which their tenants do not have yet, the oldest. */
  @Nullable QueuedRequest firstWithoutPod() {
    return first(podBound.groupsWithoutPod());
  }

  private @Nullable QueuedRequest first(Stream<SequencedSet<QueuedRequest>> waiting) {
    var first = firstForAnyPod();
    for (var group : waiting.toList()) {
      first = older(first, group);
    }
    return first;
  }

  private static @Nullable QueuedRequest older(@Nullable QueuedRequest one,
      SequencedSet<QueuedRequest> others) {
    var other = others.isEmpty() ? null : others.getFirst();
    return one == null || other != null && other.isOlderThan(one) ? other : one;
  }

  /** Publishes the oldest request to other threads. */
  void publishOldest() {
    oldest = first();
  }

  /** The oldest request, as published last. */
  @Nullable QueuedRequest oldest() {
    return oldest;
  }
}
