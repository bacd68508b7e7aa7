package dev.activator.kube.informer;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The queue of changes (deltas) that are not stored yet. The deltas of a key are processed
 * together; keys are in the order of their first delta.
 *
 * <p><b>Threads.</b> Any thread may put. One thread takes deltas and processes them under the lock,
 * so that queue and store are consistent for lists and deletions.
 *
 * <p><b>Source.</b> client-go's {@code DeltaFIFO}. Here the consumer is woken, and does not wait in
 * {@code Pop}.
 */
final class DeltaQueue<T> implements ReflectorStore<T> {
  enum Type {
    ADDED,
    UPDATED,
    DELETED,
    /** The object is missing in a list, but no watch has delivered its deletion. */
    LOST,
    /** The object is in a list, and may have changed. */
    REPLACED,
    /** The object is repeated for the handlers that are resynced. */
    SYNC;

    boolean isDeletion() {
      return this == DELETED || this == LOST;
    }
  }

  record Delta<T>(Type type, VersionedObject<T> object) {}

  @FunctionalInterface
  interface Process<T> {
    /** @return the deltas to put back; they are dropped if newer ones are pending */
    List<Delta<T>> process(String key, List<Delta<T>> deltas);
  }

  enum Popped {
    PROCESSED,
    PUT_BACK,
    EMPTY
  }

  private final IndexedStore<T> known;
  private final Runnable wake;
  private final Object lock = new Object();
  /** The deltas by key. No list is empty. */
  private final LinkedHashMap<String, List<Delta<T>>> pending = new LinkedHashMap<>();
  private boolean populated;
  private int initialKeys;
  private boolean closed;

  /**
   * @param known the store, which is written only during {@link #pop}
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

  /** Queues a deletion. An unknown key is ignored, because no handler knows it. */
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

  void resync() {
    synchronized (lock) {
      for (var stored : known.all()) {
        if (!pending.containsKey(stored.key())) {
          append(new Delta<>(Type.SYNC, stored));
        }
      }
    }
  }

  Popped pop(Process<T> process) {
    synchronized (lock) {
      var first = pending.pollFirstEntry();
      if (first == null) {
        return Popped.EMPTY;
      }
      List<Delta<T>> left = List.of();
      try {
        left = process.process(first.getKey(), first.getValue());
      } finally {
        finish(first.getKey(), left);
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
    }
  }

  private void finish(String key, List<Delta<T>> left) {
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
      // Only a deletion from the watch has the final state.
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

  /** The known objects that the list lacks, without those whose deletion is pending. */
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
