package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.WatchCacheSettings.Capacity;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The last events of a kind, in a ring buffer. Indices only grow, so an index always refers to the
 * same event.
 *
 * <p><b>Source.</b> {@code cacher/watch_cache.go} in Kubernetes' apiserver.
 */
final class WatchEventWindow {
  private final Capacity capacity;
  private @Nullable WatchCacheEvent[] slots;
  private long start;
  private long end;
  private long listRevision;
  private SortedObjects listed = SortedObjects.EMPTY;
  private boolean dropped;

  WatchEventWindow(Capacity capacity) {
    this.capacity = capacity;
    this.slots = new WatchCacheEvent[capacity.lowest()];
  }

  void restart(SortedObjects objects, long revision) {
    Arrays.fill(slots, null);
    start = end;
    dropped = false;
    listed = objects;
    listRevision = revision;
  }

  void append(WatchCacheEvent event) {
    if (event.revision() <= newestRevision()) {
      throw new IllegalStateException(
          "event " + event.object() + " after revision " + newestRevision());
    }
    if (size() == slots.length) {
      resize(event.atNanos());
    }
    if (size() == slots.length) {
      start++;
      dropped = true;
    }
    slots[slot(end)] = event;
    end++;
  }

  long start() {
    return start;
  }

  long end() {
    return end;
  }

  int size() {
    return (int) (end - start);
  }

  int capacity() {
    return slots.length;
  }

  WatchCacheEvent at(long index) {
    var event = slots[slot(index)];
    if (index < start || index >= end || event == null) {
      throw new IndexOutOfBoundsException(index + " is not in [" + start + ", " + end + ")");
    }
    return event;
  }

  boolean initialized() {
    return listRevision > 0 || size() > 0;
  }

  /** The oldest revision from which a watch can begin without missing events. */
  long oldestRevision() {
    boolean whole = listRevision > 0 && !dropped;
    return whole ? listRevision : at(start).revision() - 1;
  }

  long firstAfter(long revision) {
    long low = start;
    long high = end;
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (at(middle).revision() > revision) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /** The objects at a revision; null if it is older than the window. */
  @Nullable SortedObjects objectsAt(long revision) {
    long next = firstAfter(revision);
    if (next > start) {
      return at(next - 1).after();
    }
    return dropped || revision < listRevision ? null : listed;
  }

  private void resize(long nowNanos) {
    long quarter = end - Math.max(1, slots.length / 4);
    int next = capacity.next(slots.length, nowNanos - at(start).atNanos(),
        nowNanos - at(quarter).atNanos());
    if (next == slots.length) {
      return;
    }
    var old = slots;
    long kept = Math.max(start, end - next);
    dropped |= kept > start;
    slots = new WatchCacheEvent[next];
    for (long i = kept; i < end; i++) {
      slots[slot(i)] = old[(int) (i % old.length)];
    }
    start = kept;
  }

  private long newestRevision() {
    return size() > 0 ? at(end - 1).revision() : listRevision;
  }

  int slot(long index) {
    return (int) (index % slots.length);
  }
}
