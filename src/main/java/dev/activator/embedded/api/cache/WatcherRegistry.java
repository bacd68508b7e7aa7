package dev.activator.embedded.api.cache;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Who watches, by the namespace they watch.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop.
 */
final class WatcherRegistry {
  private final Map<String, Set<Watcher>> byPrefix = new HashMap<>();

  void add(Watcher watcher) {
    byPrefix.computeIfAbsent(watcher.selection().prefix(), _ -> new LinkedHashSet<>()).add(watcher);
  }

  void remove(Watcher watcher) {
    byPrefix.computeIfPresent(watcher.selection().prefix(), (_, watchers) -> {
      watchers.remove(watcher);
      return watchers.isEmpty() ? null : watchers;
    });
  }

  /** Those who may see an object with this key. */
  List<Watcher> candidates(String key) {
    var candidates = new ArrayList<>(byPrefix.getOrDefault("", Set.of()));
    int slash = key.indexOf('/');
    if (slash >= 0) {
      candidates.addAll(byPrefix.getOrDefault(key.substring(0, slash + 1), Set.of()));
    }
    return candidates;
  }

  List<Watcher> all() {
    return byPrefix.values().stream().flatMap(Set::stream).toList();
  }
}
