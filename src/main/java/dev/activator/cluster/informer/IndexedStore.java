package dev.activator.cluster.informer;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The objects that are known, found by key or by the values of named indices.
 *
 * <p>
 * <b>Threads.</b> Any thread may read and add indices. Each write becomes visible at once, indices
 * included, and no reader waits for a writer or a writer for a reader. Two questions that must
 * agree are asked of one {@link #snapshot}.
 *
 * <p>
 * <b>Errors.</b> An index function that throws is logged and counted, and its object is in no bucket
 * of that index.
 *
 * <p>
 * <b>Source.</b> {@code thread_safe_store.go} in client-go, whose readers share a lock with the
 * writer.
 */
public final class IndexedStore<T> {
  private static final Logger log = LoggerFactory.getLogger(IndexedStore.class);

  private final Object writing = new Object();
  private final Map<String, Function<? super VersionedObject<T>, ? extends Collection<String>>> functions = new HashMap<>();
  private volatile Snapshot<T> current = Snapshot.empty();
  private volatile long indexFailures;

  public IndexedStore() {}

  /** What is held now. */
  public Snapshot<T> snapshot() {
    return current;
  }

  /** Null if there is none. */
  public @Nullable VersionedObject<T> find(String key) {
    return current.find(key);
  }

  public int size() {
    return current.size();
  }

  /** Those with this value in the index, each once. */
  public List<VersionedObject<T>> by(String index, String value) {
    return current.by(index, value);
  }

  /**
   * Finds objects by these values from now on, those that are there already included.
   *
   * @param values of an object, none or many; has no effects
   * @throws IllegalArgumentException if there is an index of the name
   */
  public void addIndex(String name,
      Function<? super VersionedObject<T>, ? extends Collection<String>> values) {
    synchronized (writing) {
      if (current.hasIndex(name)) {
        throw new IllegalArgumentException("There is an index named \"" + name + "\" already");
      }
      functions.put(name, values);
      current = current.indexed(name, this::values);
    }
  }

  /** How many times an index function failed. */
  public long indexFailures() {
    return indexFailures;
  }

  /** Adds it, or puts it in the place of what was seen before. */
  public void put(VersionedObject<T> now) {
    synchronized (writing) {
      current = current.with(now, this::values);
    }
  }

  /** What was there; null if nothing. */
  public @Nullable VersionedObject<T> remove(String key) {
    synchronized (writing) {
      var last = current.find(key);
      current = current.without(key);
      return last;
    }
  }

  private Set<String> values(String index, VersionedObject<T> object) {
    try {
      var function = functions.get(index);
      return function == null ? Set.of() : Set.copyOf(function.apply(object));
    } catch (OutOfMemoryError exhausted) {
      // Not the function's fault, and no reason to leave the object out for good.
      throw exhausted;
    } catch (RuntimeException | Error failure) {
      failed(index, object, failure);
      return Set.of();
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock alone
  private void failed(String index, VersionedObject<T> object, Throwable failure) {
    indexFailures++;
    log.warn("The index \"{}\" leaves out {}: its function failed", index, object.key(), failure);
  }
}
