package dev.activator.cluster.informer;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The deltas not stored yet, served in the order of each key's first.
 *
 * <p><b>Threads.</b> Any may put. One takes, and processes under the lock, so that lists and deletions
 * see queue and store agree.
 *
 * <p><b>Source.</b> client-go's {@code DeltaFIFO}; the taker is woken instead of waiting in
 * {@code Pop}.
 */
final class DeltaQueue<T> implements ReflectorStore<T> {
  enum Type {
    ADDED,
    UPDATED,
    DELETED,
    /** Missing in a list: no watch delivered the deletion. */
    LOST,
    /** Listed, changed or not. */
    REPLACED,
    /** Repeated for the handlers that are due for a resync. */
    SYNC;

    boolean isDeletion() {
      return this == DELETED || this == LOST;
    }
  }

  record Delta<T>(Type type, VersionedObject<T> object) {}

  @FunctionalInterface
  interface Process<T> {
    /** @return the deltas to put back unless newer ones are pending */
    List<Delta<T>> process(String key, List<Delta<T>> deltas);
  }

  enum Popped {
    PROCESSED,
    PUT_BACK,
    EMPTY,
    CLOSED
  }

  private final IndexedStore<T> known;
  private final Runnable wake;
  private final Object lock = new Object();
  /** No list is empty. */
  private final LinkedHashMap<String, List<Delta<T>>> pending = new LinkedHashMap<>();
  private boolean populated;
  private int initialKeys;
  private boolean closed;

  /**
   * @param known written only while a pop processes
   * @param wake called under the lock
   */
  DeltaQueue(IndexedStore<T> known, Runnable wake) {
    this.known = known;
    this.wake = wake;
  }

  @Override
  public void put(VersionedObject<T> now) {
    synchronized (lock) {
      populated = true;
      append(new Delta<>(isKnown(now.key()) ? Type.UPDATED : Type.ADDED, now));
    }
  }

  /** Ignores an unknown key: no handler has seen it. */
  @Override
  public void remove(VersionedObject<T> last) {
    synchronized (lock) {
      populated = true;
      if (pending.containsKey(last.key()) || known.find(last.key()) != null) {
        append(new Delta<>(Type.DELETED, last));
      }
    }
  }

  @Override
  public void replace(List<VersionedObject<T>> all) {
    synchronized (lock) {
      var listed = new HashSet<String>();
      for (var now : all) {
        listed.add(now.key());
        append(new Delta<>(Type.REPLACED, now));
      }
      missing(listed).forEach(last -> append(new Delta<>(Type.LOST, last)));
      if (!populated) {
        populated = true;
        initialKeys = pending.size();
        wake.run();
      }
    }
  }

  /** @return how many were queued */
  int resync() {
    synchronized (lock) {
      int count = 0;
      for (var stored : known.all()) {
        if (!pending.containsKey(stored.key())) {
          append(new Delta<>(Type.SYNC, stored));
          count++;
        }
      }
      return count;
    }
  }

  /** Whether handlers that are due have not all been given their objects. */
  boolean isResyncing() {
    synchronized (lock) {
      return pending.values().stream()
          .anyMatch(deltas -> deltas.stream().anyMatch(delta -> delta.type() == Type.SYNC));
    }
  }

  Popped pop(Process<T> process) {
    synchronized (lock) {
      var first = pending.pollFirstEntry();
      if (first == null) {
        return closed ? Popped.CLOSED : Popped.EMPTY;
      }
      List<Delta<T>> left = List.of();
      try {
        left = process.process(first.getKey(), first.getValue());
      } finally {
        settle(first.getKey(), left);
      }
      return left.isEmpty() ? Popped.PROCESSED : Popped.PUT_BACK;
    }
  }

  boolean hasSynced() {
    synchronized (lock) {
      return populated && initialKeys == 0;
    }
  }

  int depth() {
    synchronized (lock) {
      return pending.size();
    }
  }

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
    return last == null ? known.find(key) != null : !last.type().isDeletion();
  }

  private void append(Delta<T> delta) {
    if (closed) {
      return;
    }
    boolean wasEmpty = pending.isEmpty();
    var deltas = pending.computeIfAbsent(delta.object().key(), _ -> new ArrayList<>(1));
    if (delta.type().isDeletion() && !deltas.isEmpty()
        && deltas.getLast().type().isDeletion()) {
      // Only the watch's deletion has the final state.
      if (deltas.getLast().type() == Type.LOST) {
        deltas.set(deltas.size() - 1, delta);
      }
    } else {
      deltas.add(delta);
    }
    if (wasEmpty) {
      wake.run();
    }
  }

  /** Known objects that the list lacks and that are not being deleted. */
  private List<VersionedObject<T>> missing(Set<String> listed) {
    var missing = new ArrayList<VersionedObject<T>>();
    pending.forEach((key, deltas) -> {
      if (!listed.contains(key) && !deltas.getLast().type().isDeletion()) {
        missing.add(deltas.getLast().object());
      }
    });
    for (var stored : known.all()) {
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
