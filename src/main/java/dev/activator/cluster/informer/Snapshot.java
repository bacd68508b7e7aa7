package dev.activator.cluster.informer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What a store held at one moment, with all its indices. It never changes: questions asked of one
 * snapshot agree with each other.
 */
public final class Snapshot<T> {
  /** Gives the values of an object for the index of a name, and never fails. */
  interface Indexer<T> extends BiFunction<String, VersionedObject<T>, Set<String>> {}

  /**
   * @param values of each index under which the object is found; remembered, so that it is taken
   *        out of exactly those
   */
  private record Entry<T>(VersionedObject<T> sighting, Map<String, Set<String>> values) {}

  private final HashTrie<Entry<T>> entries;
  private final Map<String, HashTrie<HashTrie<VersionedObject<T>>>> indices;

  private Snapshot(HashTrie<Entry<T>> entries,
      Map<String, HashTrie<HashTrie<VersionedObject<T>>>> indices) {
    this.entries = entries;
    this.indices = indices;
  }

  static <T> Snapshot<T> empty() {
    return new Snapshot<>(HashTrie.empty(), Map.of());
  }

  /** Null if there is none. */
  public @Nullable VersionedObject<T> find(String key) {
    var entry = entries.find(key);
    return entry == null ? null : entry.sighting();
  }

  public int size() {
    return entries.size();
  }

  /** All that is held, in no particular order. */
  public List<VersionedObject<T>> all() {
    var all = new ArrayList<VersionedObject<T>>(entries.size());
    entries.forEach((_, entry) -> all.add(entry.sighting()));
    return all;
  }

  /**
   * Those with this value, each once.
   *
   * @throws IllegalArgumentException if there is no such index
   */
  public List<VersionedObject<T>> by(String index, String value) {
    var bucket = buckets(index).find(value);
    return bucket == null ? List.of() : bucket.values();
  }

  /** Those with any of these values, each once. */
  public List<VersionedObject<T>> by(String index, Collection<String> values) {
    var found = new LinkedHashSet<VersionedObject<T>>();
    values.forEach(value -> found.addAll(by(index, value)));
    return List.copyOf(found);
  }

  /** The values that some object has. */
  public List<String> values(String index) {
    var values = new ArrayList<String>();
    buckets(index).forEach((value, _) -> values.add(value));
    return values;
  }

  boolean hasIndex(String name) {
    return indices.containsKey(name);
  }

  Snapshot<T> with(VersionedObject<T> now, Indexer<T> indexer) {
    if (indices.isEmpty()) {
      return new Snapshot<>(entries.with(now.key(), new Entry<>(now, Map.of())), indices);
    }
    var values = new HashMap<String, Set<String>>();
    var changed = indicesWithout(now.key());
    for (var name : indices.keySet()) {
      var found = indexer.apply(name, now);
      values.put(name, found);
      changed.computeIfPresent(name, (_, buckets) -> into(buckets, found, now));
    }
    return new Snapshot<>(entries.with(now.key(), new Entry<>(now, values)), changed);
  }

  Snapshot<T> without(String key) {
    return new Snapshot<>(entries.without(key), indicesWithout(key));
  }

  private Map<String, HashTrie<HashTrie<VersionedObject<T>>>> indicesWithout(String key) {
    var changed = new HashMap<>(indices);
    var entry = entries.find(key);
    if (entry != null) {
      entry.values().forEach((name, values) -> changed.computeIfPresent(name,
          (_, buckets) -> outOf(buckets, values, key)));
    }
    return changed;
  }

  /** The same objects, with one more index. */
  Snapshot<T> indexed(String name, Indexer<T> indexer) {
    var more = new HashMap<>(indices);
    more.put(name, HashTrie.empty());
    var next = new Snapshot<T>(HashTrie.empty(), more);
    for (var entry : entries.values()) {
      next = next.with(entry.sighting(), (index, now) -> {
        var values = entry.values().get(index);
        return values == null ? indexer.apply(index, now) : values;
      });
    }
    return next;
  }

  private static <T> HashTrie<HashTrie<VersionedObject<T>>> into(
      HashTrie<HashTrie<VersionedObject<T>>> buckets,
      Set<String> values, VersionedObject<T> now) {
    for (var value : values) {
      var bucket = buckets.find(value);
      buckets = buckets.with(value,
          (bucket == null ? HashTrie.<VersionedObject<T>>empty() : bucket).with(now.key(), now));
    }
    return buckets;
  }

  private static <T> HashTrie<HashTrie<VersionedObject<T>>> outOf(
      HashTrie<HashTrie<VersionedObject<T>>> buckets,
      Set<String> values, String key) {
    for (var value : values) {
      var bucket = buckets.find(value);
      var left = bucket == null ? HashTrie.<VersionedObject<T>>empty() : bucket.without(key);
      buckets = left.isEmpty() ? buckets.without(value) : buckets.with(value, left);
    }
    return buckets;
  }

  private HashTrie<HashTrie<VersionedObject<T>>> buckets(String index) {
    var buckets = indices.get(index);
    if (buckets == null) {
      throw new IllegalArgumentException(
          "No index is named \"" + index + "\"; there are " + indices.keySet().stream().sorted()
              .toList());
    }
    return buckets;
  }
}
