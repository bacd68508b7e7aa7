package dev.activator.cluster.informer;

import dev.activator.cluster.informer.Delta.Added;
import dev.activator.cluster.informer.Delta.Deleted;
import dev.activator.cluster.informer.Delta.Replaced;
import dev.activator.cluster.informer.Delta.Sync;
import dev.activator.cluster.informer.Delta.Updated;
import dev.activator.cluster.informer.Notification.FinalState;
import dev.activator.cluster.informer.Notification.Moment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was seen and is not yet stored: for each key its deltas, oldest first. Keys are served in the
 * order of their first delta that waits.
 *
 * <p>
 * <b>Threads.</b> Any thread may put, one takes. The taker works under the queue's lock, so that
 * queue and store never disagree when a list or a deletion consults both.
 *
 * <p>
 * <b>Errors.</b> What is put after {@link #close} is dropped.
 *
 * <p>
 * <b>Source.</b> {@code DeltaFIFO} in client-go's {@code tools/cache/delta_fifo.go}; a taker is
 * woken instead of waiting in {@code Pop}, and what it could not do is what {@link Process} returns.
 */
final class DeltaQueue<T> implements DeltaSink<T> {
  /** What becomes of the deltas of one key. */
  @FunctionalInterface
  interface Process<T> {
    /**
     * @param moment whether the key is of the first list
     * @return those that are to wait again, unless something newer does
     */
    List<Delta<T>> process(String key, List<Delta<T>> deltas, Moment moment);
  }

  /** How a pop went. */
  enum Popped {
    PROCESSED, PUT_BACK, EMPTY, CLOSED
  }

  private final IndexedStore<T> known;
  private final Runnable wake;
  private final Object lock = new Object();
  /** Of each key what waits; no list is empty. */
  private final LinkedHashMap<String, List<Delta<T>>> pending = new LinkedHashMap<>();
  private boolean populated;
  private int initialKeys;
  private boolean closed;

  /**
   * @param known what has been stored; written only while a pop processes
   * @param wake called, under the lock, when a pop has something to find
   */
  DeltaQueue(IndexedStore<T> known, Runnable wake) {
    this.known = known;
    this.wake = wake;
  }

  @Override
  public void put(VersionedObject<T> now) {
    synchronized (lock) {
      populated = true;
      append(now.key(), isKnown(now.key()) ? new Updated<>(now) : new Added<>(now));
    }
  }

  /** Ignored where nothing is known under the key: nobody was told of it. */
  @Override
  public void remove(VersionedObject<T> last) {
    synchronized (lock) {
      populated = true;
      if (pending.containsKey(last.key()) || known.find(last.key()) != null) {
        append(last.key(), new Deleted<>(last, FinalState.KNOWN));
      }
    }
  }

  @Override
  public void replace(List<VersionedObject<T>> all) {
    synchronized (lock) {
      var listed = new HashSet<String>();
      for (var now : all) {
        listed.add(now.key());
        append(now.key(), new Replaced<>(now));
      }
      missing(listed).forEach(
          last -> append(last.key(), new Deleted<>(last, FinalState.UNKNOWN)));
      if (!populated) {
        populated = true;
        initialKeys = pending.size();
        wake.run();
      }
    }
  }

  /**
   * Queues what is stored once more, except where something newer waits.
   *
   * @return how many
   */
  int resync() {
    synchronized (lock) {
      int count = 0;
      for (var stored : known.snapshot().all()) {
        if (!pending.containsKey(stored.key())) {
          append(stored.key(), new Sync<>(stored));
          count++;
        }
      }
      return count;
    }
  }

  /** Takes the first key and processes all its deltas, while putters wait. */
  Popped pop(Process<T> process) {
    synchronized (lock) {
      var first = pending.pollFirstEntry();
      if (first == null) {
        return closed ? Popped.CLOSED : Popped.EMPTY;
      }
      List<Delta<T>> left = List.of();
      try {
        var moment = initialKeys > 0 ? Moment.INITIAL : Moment.LATER;
        left = process.process(first.getKey(), first.getValue(), moment);
      } finally {
        settle(first.getKey(), left);
      }
      return left.isEmpty() ? Popped.PROCESSED : Popped.PUT_BACK;
    }
  }

  /** Whether all keys of the first list have been processed. */
  boolean hasSynced() {
    synchronized (lock) {
      return populated && initialKeys == 0;
    }
  }

  /** How many keys wait. */
  int depth() {
    synchronized (lock) {
      return pending.size();
    }
  }

  /** Takes no more. What waits can still be popped. */
  void close() {
    synchronized (lock) {
      closed = true;
      wake.run();
    }
  }

  private void settle(String key, List<Delta<T>> left) {
    if (left.isEmpty() || pending.containsKey(key)) {
      initialKeys = Math.max(0, initialKeys - 1);
    } else {
      pending.put(key, new ArrayList<>(left));
    }
  }

  private boolean isKnown(String key) {
    var last = last(key);
    return last == null ? known.find(key) != null : !(last instanceof Deleted<T>);
  }

  private void append(String key, Delta<T> delta) {
    if (closed) {
      return;
    }
    boolean wasEmpty = pending.isEmpty();
    var deltas = pending.computeIfAbsent(key, _ -> new ArrayList<>(1));
    if (delta instanceof Deleted<T> later && !deltas.isEmpty()
        && deltas.getLast() instanceof Deleted<T> earlier) {
      deltas.set(deltas.size() - 1, moreCertain(earlier, later));
    } else {
      deltas.add(delta);
    }
    if (wasEmpty) {
      wake.run();
    }
  }

  private static <T> Deleted<T> moreCertain(Deleted<T> earlier, Deleted<T> later) {
    return earlier.finalState() == FinalState.UNKNOWN ? later : earlier;
  }

  /** The last that was seen of each key that is known, not waiting to be deleted, and not listed. */
  private List<VersionedObject<T>> missing(HashSet<String> listed) {
    var missing = new ArrayList<VersionedObject<T>>();
    pending.forEach((key, deltas) -> {
      if (!listed.contains(key) && !(deltas.getLast() instanceof Deleted<T>)) {
        missing.add(deltas.getLast().sighting());
      }
    });
    for (var stored : known.snapshot().all()) {
      if (!listed.contains(stored.key()) && !pending.containsKey(stored.key())) {
        missing.add(stored);
      }
    }
    return missing;
  }

  private @Nullable Delta<T> last(String key) {
    var deltas = pending.get(key);
    return deltas == null ? null : deltas.getLast();
  }
}
