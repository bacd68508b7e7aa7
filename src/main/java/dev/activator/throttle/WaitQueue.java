package dev.activator.throttle;

import dev.activator.revision.RevisionId;
import dev.activator.throttle.policy.QueueOrder;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queued requests of a revision. First to run are those that had a permit and could not be
 * delivered, then the others in order of arrival. While {@link QueueOrder} says newest first, those
 * that arrived since then run before the others, the newest first; of the others, those run first
 * whose callers will usually stay until they are served.
 *
 * <p>
 * <b>Threads.</b> It belongs to the revision's loop; any may ask for the {@link #oldest} and the
 * {@link #order}.
 */
final class WaitQueue {
  private static final Logger log = LoggerFactory.getLogger(WaitQueue.class);

  private final RevisionId id;
  private final LinkedHashSet<QueuedRequest> returned = new LinkedHashSet<>();
  /** Unlikely to be served in time; all of them arrived before those in {@code queue}. */
  private final LinkedHashSet<QueuedRequest> late = new LinkedHashSet<>();
  /** In order of arrival. */
  private final LinkedHashSet<QueuedRequest> queue = new LinkedHashSet<>();
  private volatile QueueOrder order = QueueOrder.BY_ARRIVAL;
  private volatile @Nullable QueuedRequest oldest;

  WaitQueue(RevisionId id) {
    this.id = id;
  }

  boolean isEmpty() {
    return returned.isEmpty() && late.isEmpty() && queue.isEmpty();
  }

  int size() {
    return returned.size() + late.size() + queue.size();
  }

  /** Adds a new request. */
  void add(QueuedRequest request) {
    queue.add(request);
  }

  /** Adds one that could not be delivered, before all that have not had a permit. */
  void addReturned(QueuedRequest request) {
    returned.add(request);
  }

  /** Returns whether it was there. */
  boolean remove(QueuedRequest request) {
    return queue.remove(request) || late.remove(request) || returned.remove(request);
  }

  /** Removes and returns the request that runs next. */
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
    // The estimates change, so some may be in time again.
    while (!late.isEmpty() && order.isInTime(nowNanos - late.getLast().sinceNanos())) {
      queue.addFirst(late.removeLast());
    }
    while (!queue.isEmpty() && !order.isInTime(nowNanos - queue.getFirst().sinceNanos())) {
      late.add(queue.removeFirst());
    }
  }

  /** Removes all and returns them in order of arrival, after those that could not be delivered. */
  List<QueuedRequest> clear() {
    var all = Stream.of(returned, late, queue).flatMap(LinkedHashSet::stream).toList();
    returned.clear();
    late.clear();
    queue.clear();
    return all;
  }

  /** Changes the order. */
  void setOrder(QueueOrder now) {
    if (now.newestFirst() != order.newestFirst()) {
      log.info("{}: {}", id, now.newestFirst()
          ? "callers leave before they are served, so the newest request runs first"
          : "callers no longer leave before they are served: requests run in order of arrival");
    }
    if (now != order) {
      order = now;
    }
  }

  /** The order when it was last looked at. */
  QueueOrder order() {
    return order;
  }

  /** Shows other threads the oldest request. */
  void publishOldest() {
    if (isEmpty()) {
      oldest = null;
    } else {
      oldest = (!returned.isEmpty() ? returned : !late.isEmpty() ? late : queue).getFirst();
    }
  }

  /** The oldest request when it was last published; null if the queue was empty. */
  @Nullable QueuedRequest oldest() {
    return oldest;
  }
}
