package dev.activator.throttle;

import dev.activator.revision.RevisionId;
import dev.activator.throttle.policy.AdaptiveLifo;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue of one revision. Requests that were returned because they could not be delivered run
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
 * <p><b>Threads.</b> The revision's loop. Any thread may call {@link #oldest()} and {@link #order}.
 */
final class WaitQueue {
  private static final Logger log = LoggerFactory.getLogger(WaitQueue.class);

  /** The empty set of a queue without requests; most revisions never queue one. */
  private static final SequencedSet<QueuedRequest> NONE = Collections.unmodifiableSequencedSet(
      new LinkedHashSet<>(0));

  private static final Comparator<QueuedRequest> BY_ARRIVAL = (one, other) -> Long
      .signum(one.sinceNanos() - other.sinceNanos());

  private final RevisionId id;
  private SequencedSet<QueuedRequest> returned = NONE;
  /**
   * Requests that will probably not be served in time. They all arrived before those in
   * {@code queue}.
   */
  private SequencedSet<QueuedRequest> late = NONE;
  /** The other requests, in order of arrival. */
  private SequencedSet<QueuedRequest> queue = NONE;
  private volatile AdaptiveLifo order = AdaptiveLifo.BY_ARRIVAL;
  private volatile @Nullable QueuedRequest oldest;

  WaitQueue(RevisionId id) {
    this.id = id;
  }

  private static SequencedSet<QueuedRequest> modifiable(SequencedSet<QueuedRequest> set) {
    return set == NONE ? new LinkedHashSet<>() : set;
  }

  boolean isEmpty() {
    return returned.isEmpty() && late.isEmpty() && queue.isEmpty();
  }

  int size() {
    return returned.size() + late.size() + queue.size();
  }

  void add(QueuedRequest request) {
    queue = modifiable(queue);
    queue.add(request);
  }

  void addReturned(QueuedRequest request) {
    returned = modifiable(returned);
    returned.add(request);
  }

  boolean remove(QueuedRequest request) {
    return Stream.of(queue, late, returned).anyMatch(set -> set != NONE && set.remove(request));
  }

  QueuedRequest removeNext(long nowNanos) {
    setOrder(order.at(nowNanos));
    if (!returned.isEmpty()) {
      return returned.removeFirst();
    }
    if (!order.newestFirst()) {
      return late.isEmpty() ? queue.removeFirst() : late.removeFirst();
    }
    if (!queue.isEmpty() && order.overtakes(queue.getLast().sinceNanos())) {
      return queue.removeLast();
    }
    updateLate(nowNanos);
    return queue.isEmpty() ? late.removeFirst() : queue.removeFirst();
  }

  private void updateLate(long nowNanos) {
    // The estimates change, so some requests may be in time again.
    while (!late.isEmpty() && order.isInTime(nowNanos - late.getLast().sinceNanos())) {
      queue = modifiable(queue);
      queue.addFirst(late.removeLast());
    }
    while (!queue.isEmpty() && !order.isInTime(nowNanos - queue.getFirst().sinceNanos())) {
      late = modifiable(late);
      late.add(queue.removeFirst());
    }
  }

  /**
   * Empties the queue and returns its requests: first those that could not be delivered, then the
   * others in order of arrival.
   */
  List<QueuedRequest> clear() {
    var all = Stream.of(returned, late, queue).flatMap(SequencedSet::stream).toList();
    returned = NONE;
    late = NONE;
    queue = NONE;
    return all;
  }

  /** The requests that have waited for longest, in descending order. */
  Stream<QueuedRequest> oldest(int max) {
    return Stream.of(returned, late, queue).flatMap(set -> set.stream().limit(max))
        .sorted(BY_ARRIVAL).limit(max);
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

  /** The request that has been queued for the longest. */
  @Nullable QueuedRequest first() {
    var arrived = late.isEmpty() ? queue : late;
    var first = arrived.isEmpty() ? null : arrived.getFirst();
    // A request that was returned to the queue counts from its return, so it may be the younger
    // one.
    return !returned.isEmpty()
        && (first == null || BY_ARRIVAL.compare(returned.getFirst(), first) < 0)
            ? returned.getFirst()
            : first;
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
