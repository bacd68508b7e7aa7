package dev.activator.throttle;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The queued requests of a revision, in order: first those that had a permit and could not be
 * delivered, then the others as they came.
 *
 * <p>
 * <b>Threads.</b> It belongs to the revision's loop; any may ask for the {@link #head}.
 */
final class WaitQueue {
  private final LinkedHashSet<QueuedRequest> returned = new LinkedHashSet<>();
  private final LinkedHashSet<QueuedRequest> queue = new LinkedHashSet<>();
  private volatile @Nullable QueuedRequest head;

  boolean isEmpty() {
    return returned.isEmpty() && queue.isEmpty();
  }

  int size() {
    return returned.size() + queue.size();
  }

  /** Adds a new request, last. */
  void add(QueuedRequest request) {
    queue.add(request);
  }

  /** Adds one that could not be delivered, before all that have not had a permit. */
  void addReturned(QueuedRequest request) {
    returned.add(request);
  }

  /** Returns whether it was there. */
  boolean remove(QueuedRequest request) {
    return queue.remove(request) || returned.remove(request);
  }

  QueuedRequest removeFirst() {
    return returned.isEmpty() ? queue.removeFirst() : returned.removeFirst();
  }

  /** Removes all and returns them in order. */
  List<QueuedRequest> clear() {
    var all = Stream.concat(returned.stream(), queue.stream()).toList();
    returned.clear();
    queue.clear();
    return all;
  }

  /** Shows other threads the present head. */
  void publish() {
    head = isEmpty() ? null : returned.isEmpty() ? queue.getFirst() : returned.getFirst();
  }

  /** The head when it was last published; null if the queue was empty. */
  @Nullable QueuedRequest head() {
    return head;
  }
}
