package dev.activator.throttle;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for a revision, in order: first those that had their turn and could not be delivered,
 * then the others as they came.
 *
 * <p>
 * <b>Threads.</b> It belongs to the revision's loop; any may ask for the head.
 */
final class Line {
  private final LinkedHashSet<QueuedRequest> returned = new LinkedHashSet<>();
  private final LinkedHashSet<QueuedRequest> queue = new LinkedHashSet<>();
  private volatile @Nullable QueuedRequest head;

  boolean isEmpty() {
    return returned.isEmpty() && queue.isEmpty();
  }

  int size() {
    return returned.size() + queue.size();
  }

  /** To the end. */
  void add(QueuedRequest request) {
    queue.add(request);
  }

  /** Before all that have not had their turn. */
  void addReturned(QueuedRequest request) {
    returned.add(request);
  }

  /** Whether it was there. */
  boolean remove(QueuedRequest request) {
    return queue.remove(request) || returned.remove(request);
  }

  QueuedRequest removeFirst() {
    return returned.isEmpty() ? queue.removeFirst() : returned.removeFirst();
  }

  /** Nobody waits any more; returns who did, in order. */
  List<QueuedRequest> clear() {
    var all = Stream.concat(returned.stream(), queue.stream()).toList();
    returned.clear();
    queue.clear();
    return all;
  }

  /** Shows other threads who is first now. */
  void publish() {
    head = isEmpty() ? null : first();
  }

  private QueuedRequest first() {
    return returned.isEmpty() ? queue.getFirst() : returned.getFirst();
  }

  /** Who was first when that was last published; null for nobody. */
  @Nullable QueuedRequest head() {
    return head;
  }
}
