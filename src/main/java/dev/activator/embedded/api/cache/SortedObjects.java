package dev.activator.embedded.api.cache;

import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Objects sorted by key, and by indexed labels and fields. Immutable; a change shares nearly all.
 */
public final class SortedObjects {
  public static final SortedObjects EMPTY = indexed(List.of());

  private final SortedTree<CachedObject> byKey;
  private final List<Index> indices;

  /** Complete at one revision of the store. */
  public record CacheSnapshot(SortedObjects objects, long revision) {}

  private SortedObjects(SortedTree<CachedObject> byKey, List<Index> indices) {
    this.byKey = byKey;
    this.indices = indices;
  }

  public static SortedObjects indexed(List<Indexer> indexers) {
    return new SortedObjects(SortedTree.empty(), indexers.stream().map(Index::of).toList());
  }

  public SortedObjects withAll(List<CachedObject> objects) {
    var all = this;
    for (var object : objects) {
      all = all.with(object);
    }
    return all;
  }

  public int size() {
    return byKey.size();
  }

  public @Nullable CachedObject find(String key) {
    return byKey.find(key);
  }

  public SortedObjects with(CachedObject object) {
    return new SortedObjects(byKey.with(object.key(), object),
        reindexed(find(object.key()), object));
  }

  public SortedObjects without(String key) {
    return new SortedObjects(byKey.without(key), reindexed(find(key), null));
  }

  public Iterator<CachedObject> from(String from, String prefix) {
    return byKey.from(from, prefix);
  }

  /** Uses an index if one applies; the selection must still be applied. */
  public Iterator<CachedObject> candidates(Selection selection, String from) {
    String prefix = selection.prefix();
    for (var index : indices) {
      String value = index.indexer().valueIn(selection);
      if (!value.isEmpty()) {
        return index.from(value, from, prefix);
      }
    }
    return from(from, prefix.isEmpty() ? prefix : prefix + selection.name());
  }

  private List<Index> reindexed(@Nullable CachedObject before, @Nullable CachedObject now) {
    return indices.isEmpty()
        ? indices
        : indices.stream().map(index -> index.without(before).with(now)).toList();
  }

  private record Index(Indexer indexer, SortedTree<CachedObject> byValue) {
    /** Less than every character of names and values. */
    private static final char BETWEEN = '\0';

    static Index of(Indexer indexer) {
      return new Index(indexer, SortedTree.empty());
    }

    Index with(@Nullable CachedObject object) {
      return object == null || indexer.valueOf(object).isEmpty()
          ? this
          : new Index(indexer, byValue.with(place(object), object));
    }

    Index without(@Nullable CachedObject object) {
      return object == null || indexer.valueOf(object).isEmpty()
          ? this
          : new Index(indexer, byValue.without(place(object)));
    }

    Iterator<CachedObject> from(String value, String from, String prefix) {
      return byValue.from(value + BETWEEN + from, value + BETWEEN + prefix);
    }

    private String place(CachedObject object) {
      return indexer.valueOf(object) + BETWEEN + object.key();
    }
  }
}
