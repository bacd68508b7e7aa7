package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.CacheSettings;
import dev.activator.embedded.api.cache.Feed;
import dev.activator.embedded.api.cache.WatchCache;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Subscription;
import dev.activator.loop.Loop;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The caches of the kinds that clients bring. One is made when it is first asked for, and goes with
 * its kind: its watches end then.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in; the caches live on the loop.
 */
public final class CustomCaches implements AutoCloseable {
  private final ApiStore store;
  private final Loop loop;
  private final CacheSettings settings;
  private final Map<Kind, Opened> opened = new ConcurrentHashMap<>();
  private final Subscription leaving;

  private record Opened(WatchCache cache, Subscription feed) {
    void end() {
      feed.close();
      cache.endWatches();
    }
  }

  public CustomCaches(ApiStore store, Loop loop, CacheSettings settings) {
    this.store = store;
    this.loop = loop;
    this.settings = settings;
    this.leaving = store.kinds().onLeaving(kind -> loop.execute(() -> forget(kind)));
  }

  /** The cache of the kind; null if there is no such kind. */
  @Nullable WatchCache of(Kind kind) {
    return store.kinds().all().contains(kind)
        ? opened.computeIfAbsent(kind, this::open).cache()
        : null;
  }

  /** Calls back on the loop, where a cache that was just made has its first state. */
  void settled(WatchCache cache, Consumer<WatchCache> then) {
    loop.execute(() -> then.accept(cache));
  }

  /** Follows the store no longer. */
  @Override
  public void close() {
    leaving.close();
    opened.values().forEach(one -> one.feed().close());
  }

  private Opened open(Kind kind) {
    var cache = new WatchCache(kind, loop, settings, store::revision);
    return new Opened(cache, new Feed(store, Map.of(kind, cache), loop, (_, line) -> line).start());
  }

  private void forget(Kind kind) {
    var gone = opened.remove(kind);
    if (gone != null) {
      gone.end();
    }
  }
}
