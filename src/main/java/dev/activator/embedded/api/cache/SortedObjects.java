package dev.activator.embedded.api.cache;

import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A set of objects in order of their keys, and in the order of some of their labels or fields.
 * Immutable: a change makes a new one that shares nearly all with the old.
 */
public final class SortedObjects {
  public static final SortedObjects EMPTY = indexed(List.of());

  private final SortedTree<CachedObject> byKey;
  private final List<Index> indices;

  /**
   * All objects of a kind at one revision: none is newer than the revision, and none is missing.
   *
   * @param objects in order of their keys
   * @param revision of the whole store
   */
  public record CacheSnapshot(SortedObjects objects, long revision) {}

  private SortedObjects(SortedTree<CachedObject> byKey, List<Index> indices) {
    this.byKey = byKey;
    this.indices = indices;
  }

  /** An empty set with these indices. */
  public static SortedObjects indexed(List<Indexer> indexers) {
    return new SortedObjects(SortedTree.empty(), indexers.stream().map(Index::of).toList());
  }

  /** With these as well, in place of their earlier states. */
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

  /** With this object in place of what has its key. */
  public SortedObjects with(CachedObject object) {
    return new SortedObjects(byKey.with(object.key(), object),
        reindexed(find(object.key()), object));
  }

  public SortedObjects without(String key) {
    return new SortedObjects(byKey.without(key), reindexed(find(key), null));
  }

  /** Those whose key begins with the prefix and is not before {@code from}, in order. */
  public Iterator<CachedObject> from(String from, String prefix) {
    return byKey.from(from, prefix);
  }

  /** The same without what an index excludes; the selection still has to be applied. */
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

  /** The objects that have a value, in order of value and key. */
  private record Index(Indexer indexer, SortedTree<CachedObject> byValue) {
    /** Less than every character that names and values have. */
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
