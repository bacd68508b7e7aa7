package dev.activator.kube.informer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store of the objects of one kind, by key, with indices.
 *
 * <p><b>Threads.</b> Any. An object and its index entries become visible together.
 *
 * <p><b>Errors.</b> An object for which an index function throws is missing in that index.
 *
 * <p><b>Source.</b> client-go's {@code thread_safe_store.go}.
 */
public final class IndexedStore<T> {
  private static final Logger log = LoggerFactory.getLogger(IndexedStore.class);

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private final Map<String, VersionedObject<T>> objects = new HashMap<>();
  private final Map<String, Index<T>> indices = new LinkedHashMap<>();

  /**
   * An index. It stores the values of each key, since the function may return other values later.
   */
  private static final class Index<T> {
    private final Function<? super VersionedObject<T>, ? extends Collection<?>> function;
    private final Map<String, Set<?>> valuesByKey = new HashMap<>();
    private final Map<Object, Set<String>> keysByValue = new HashMap<>();

    Index(Function<? super VersionedObject<T>, ? extends Collection<?>> function) {
      this.function = function;
    }

    void put(String key, Set<?> values) {
      remove(key);
      valuesByKey.put(key, values);
      values.forEach(value -> keysByValue.merge(value, Set.of(key), Index::union));
    }

    void remove(String key) {
      var values = valuesByKey.remove(key);
      if (values != null) {
        values
            .forEach(value -> keysByValue.computeIfPresent(value, (_, keys) -> without(keys, key)));
      }
    }

    /** The union of two sets. Most sets have one key, and an immutable set of one is small. */
    private static Set<String> union(Set<String> keys, Set<String> more) {
      var all = keys instanceof HashSet ? keys : new HashSet<>(keys);
      all.addAll(more);
      return all;
    }

    private static @Nullable Set<String> without(Set<String> keys, String key) {
      if (keys.size() == 1) {
        return null;
      }
      keys.remove(key);
      return keys;
    }
  }

  public @Nullable VersionedObject<T> find(String key) {
    lock.readLock().lock();
    try {
      return objects.get(key);
    } finally {
      lock.readLock().unlock();
    }
  }

  public int size() {
    lock.readLock().lock();
    try {
      return objects.size();
    } finally {
      lock.readLock().unlock();
    }
  }

  public List<VersionedObject<T>> all() {
    lock.readLock().lock();
    try {
      return List.copyOf(objects.values());
    } finally {
      lock.readLock().unlock();
    }
  }

  /** @throws IllegalArgumentException if there is no such index */
  public List<VersionedObject<T>> by(String index, Object value) {
    lock.readLock().lock();
    try {
      var found = new ArrayList<VersionedObject<T>>();
      index(index).keysByValue.getOrDefault(value, Set.of())
          .forEach(key -> found.add(objects.get(key)));
      return found;
    } finally {
      lock.readLock().unlock();
    }
  }

  /** The values that objects have. */
  Set<Object> values(String index) {
    lock.readLock().lock();
    try {
      return Set.copyOf(index(index).keysByValue.keySet());
    } finally {
      lock.readLock().unlock();
    }
  }

  private Index<T> index(String name) {
    var index = indices.get(name);
    if (index == null) {
      throw new IllegalArgumentException("No index is named \"" + name + "\"; there are "
          + indices.keySet().stream().sorted().toList());
    }
    return index;
  }

  /**
   * Adds an index, also of the objects that are already stored.
   *
   * @param values computes the values of an object, without side effects
   */
  public void addIndex(String name,
      Function<? super VersionedObject<T>, ? extends Collection<?>> values) {
    lock.writeLock().lock();
    try {
      if (indices.containsKey(name)) {
        throw new IllegalArgumentException("There is an index named \"" + name + "\" already");
      }
      var index = new Index<T>(values);
      objects.values().forEach(object -> index.put(object.key(), valuesOf(name, index, object)));
      indices.put(name, index);
    } finally {
      lock.writeLock().unlock();
    }
  }

  public void put(VersionedObject<T> now) {
    lock.writeLock().lock();
    try {
      // This is done first, so that an OutOfMemoryError leaves the store unchanged.
      var values = new HashMap<String, Set<?>>();
      indices.forEach((name, index) -> values.put(name, valuesOf(name, index, now)));
      objects.put(now.key(), now);
      indices.forEach((name, index) -> index.put(now.key(), values.getOrDefault(name, Set.of())));
    } finally {
      lock.writeLock().unlock();
    }
  }

  public @Nullable VersionedObject<T> remove(String key) {
    lock.writeLock().lock();
    try {
      indices.values().forEach(index -> index.remove(key));
      return objects.remove(key);
    } finally {
      lock.writeLock().unlock();
    }
  }

  private Set<?> valuesOf(String name, Index<T> index, VersionedObject<T> object) {
    try {
      return Set.copyOf(index.function.apply(object));
    } catch (RuntimeException e) {
      // An Error is left to the informer, which retries after an OutOfMemoryError.
      log.warn("The index \"{}\" does not contain {}: its function failed", name, object.key(), e);
      return Set.of();
    }
  }
}
