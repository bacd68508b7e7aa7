package dev.activator.embedded.api.cache;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.pcollections.TreePMap;

/**
 * The objects of a kind, sorted by key and by indexed labels and fields. Immutable. A changed copy
 * shares nearly all of its content.
 */
public final class SortedObjects {
  public static final SortedObjects EMPTY = indexed(List.of());

  private final TreePMap<String, WatchCacheObject> byKey;
  private final List<Index> indices;

  /** All objects of a kind at one revision of the store. */
  public record CacheSnapshot(SortedObjects objects, long revision) {}

  private SortedObjects(TreePMap<String, WatchCacheObject> byKey, List<Index> indices) {
    this.byKey = byKey;
    this.indices = indices;
  }

  public static SortedObjects indexed(List<IndexedField> indexers) {
    return new SortedObjects(TreePMap.empty(), indexers.stream().map(Index::of).toList());
  }

  public SortedObjects withAll(List<WatchCacheObject> objects) {
    var all = this;
    for (var object : objects) {
      all = all.with(object);
    }
    return all;
  }

  public int size() {
    return byKey.size();
  }

  public @Nullable WatchCacheObject find(String key) {
    return byKey.get(key);
  }

  public SortedObjects with(WatchCacheObject object) {
    return new SortedObjects(byKey.plus(object.key(), object),
        reindexed(find(object.key()), object));
  }

  public SortedObjects without(String key) {
    return new SortedObjects(byKey.minus(key), reindexed(find(key), null));
  }

  public Iterator<WatchCacheObject> from(String from, String prefix) {
    return from(byKey, from, prefix);
  }

  private static Iterator<WatchCacheObject> from(TreePMap<String, WatchCacheObject> sorted,
      String from,
      String prefix) {
    String first = from.compareTo(prefix) < 0 ? prefix : from;
    return sorted.tailMap(first, true).entrySet().stream()
        .takeWhile(entry -> entry.getKey().startsWith(prefix)).map(Map.Entry::getValue).iterator();
  }

  /**
   * The objects that the selection may match, from an index if one applies. The caller must still
   * apply the selection.
   */
  public Iterator<WatchCacheObject> candidates(ObjectSelection selection, String from) {
    String prefix = selection.prefix();
    for (var index : indices) {
      String value = index.indexer().valueIn(selection);
      if (!value.isEmpty()) {
        return index.from(value, from, prefix);
      }
    }
    return from(from, prefix.isEmpty() ? prefix : prefix + selection.name());
  }

  private List<Index> reindexed(@Nullable WatchCacheObject before, @Nullable WatchCacheObject now) {
    return indices.isEmpty()
        ? indices
        : indices.stream().map(index -> index.without(before).with(now)).toList();
  }

  private record Index(IndexedField indexer, TreePMap<String, WatchCacheObject> byValue) {
    /** A separator that is less than all characters of names and values. */
    private static final char BETWEEN = '\0';

    static Index of(IndexedField indexer) {
      return new Index(indexer, TreePMap.empty());
    }

    Index with(@Nullable WatchCacheObject object) {
      return object == null || indexer.valueOf(object).isEmpty()
          ? this
          : new Index(indexer, byValue.plus(place(object), object));
    }

    Index without(@Nullable WatchCacheObject object) {
      return object == null || indexer.valueOf(object).isEmpty()
          ? this
          : new Index(indexer, byValue.minus(place(object)));
    }

    Iterator<WatchCacheObject> from(String value, String from, String prefix) {
      return SortedObjects.from(byValue, value + BETWEEN + from, value + BETWEEN + prefix);
    }

    private String place(WatchCacheObject object) {
      return indexer.valueOf(object) + BETWEEN + object.key();
    }
  }
}
