package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.WatchCacheSettings.Buffers.Trigger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The index of the watches of one cache. Each watch has the narrowest scope that covers its
 * selection: an object, a name, an index value, a namespace, or everything.
 */
final class WatchIndex {
  private static final String ALL = "";

  private final List<IndexedField> indexers;
  private final Map<String, Set<CacheWatcher>> byScope = new HashMap<>();

  WatchIndex(List<IndexedField> indexers) {
    this.indexers = indexers;
  }

  void add(CacheWatcher watch) {
    byScope.computeIfAbsent(scope(watch.selection()), _ -> new LinkedHashSet<>()).add(watch);
  }

  void remove(CacheWatcher watch) {
    byScope.computeIfPresent(scope(watch.selection()), (_, watchers) -> {
      watchers.remove(watch);
      return watchers.isEmpty() ? null : watchers;
    });
  }

  List<CacheWatcher> candidates(WatchCacheEvent event) {
    var object = event.object();
    var previous = event.previous();
    var candidates = new ArrayList<CacheWatcher>();
    collect(ALL, candidates);
    int slash = object.key().indexOf('/');
    if (slash >= 0) {
      collect(object.key().substring(0, slash + 1), candidates);
      collect(object.key(), candidates);
    }
    collect(named(object.key().substring(slash + 1)), candidates);
    for (var indexer : indexers) {
      String now = indexer.valueOf(object);
      String before = previous == null ? now : indexer.valueOf(previous);
      collect(indexed(indexer, now), candidates);
      if (!before.equals(now)) {
        collect(indexed(indexer, before), candidates);
      }
    }
    return candidates;
  }

  List<CacheWatcher> all() {
    return byScope.values().stream().flatMap(Set::stream).toList();
  }

  Trigger trigger(ObjectSelection selection) {
    if (indexers.isEmpty()) {
      return Trigger.NO_INDEX;
    }
    return indexers.stream().anyMatch(indexer -> !indexer.valueIn(selection).isEmpty())
        ? Trigger.USED
        : Trigger.UNUSED;
  }

  private void collect(String scope, List<CacheWatcher> candidates) {
    var watchers = byScope.get(scope);
    if (watchers != null) {
      candidates.addAll(watchers);
    }
  }

  private String scope(ObjectSelection selection) {
    if (!selection.name().isEmpty()) {
      return selection.namespace().isEmpty()
          ? named(selection.name())
          : selection.prefix() + selection.name();
    }
    for (var indexer : indexers) {
      String value = indexer.valueIn(selection);
      if (!value.isEmpty()) {
        return indexed(indexer, value);
      }
    }
    return selection.prefix();
  }

  /** The scope of a name, which differs from all keys and prefixes. */
  private static String named(String name) {
    return "/" + name;
  }

  /** The scope of an index value, which differs from all other scopes. */
  private static String indexed(IndexedField indexer, String value) {
    return "//" + indexer.source() + "/" + indexer.name() + "=" + value;
  }
}
