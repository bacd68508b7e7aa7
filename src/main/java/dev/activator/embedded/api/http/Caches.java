package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.CacheSnapshot;
import dev.activator.embedded.api.cache.SnapshotReader;
import dev.activator.embedded.api.cache.WatchCache;
import dev.activator.embedded.api.policy.Freshness;
import dev.activator.embedded.api.store.ApiException;
import dev.activator.embedded.api.store.Kind;
import java.util.Map;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/** The caches of all kinds, as publishers. */
public final class Caches {
  private final Map<Kind, WatchCache> fixed;
  private final CustomCaches custom;

  /**
   * All of them.
   *
   * @param fixed those of the kinds that are always there
   * @param custom those of the others
   */
  public Caches(Map<Kind, WatchCache> fixed, CustomCaches custom) {
    this.fixed = Map.copyOf(fixed);
    this.custom = custom;
  }

  WatchCache of(Kind kind) {
    var cache = fixed.get(kind);
    var found = cache == null ? custom.of(kind) : cache;
    if (found == null) {
      throw Refusals.noSuchResource();
    }
    return found;
  }

  /** The cache, once it has a state to serve; 429 if it lost the one it had. */
  Mono<WatchCache> ready(Kind kind) {
    var cache = of(kind);
    return fixed.containsKey(kind)
        ? Mono.fromSupplier(() -> served(cache))
        : Mono.create(sink -> custom.settled(cache, settled -> {
          try {
            sink.success(served(settled));
          } catch (ApiException refused) {
            sink.error(refused);
          }
        }));
  }

  private static WatchCache served(WatchCache cache) {
    cache.requireReady();
    return cache;
  }

  /** A state that is as new as asked. What is made of it is not made on the cache's loop. */
  Mono<CacheSnapshot> read(Kind kind, Freshness freshness) {
    var cache = of(kind);
    return Mono.<CacheSnapshot>create(sink -> {
      if (fixed.containsKey(kind)) {
        begin(cache, freshness, sink);
      } else {
        custom.settled(cache, settled -> begin(settled, freshness, sink));
      }
    }).publishOn(Schedulers.parallel());
  }

  private static void begin(WatchCache cache, Freshness freshness, MonoSink<CacheSnapshot> sink) {
    var reading = cache.read(freshness, new ToSink(sink));
    sink.onCancel(reading::cancel);
  }

  private record ToSink(MonoSink<CacheSnapshot> sink) implements SnapshotReader {
    @Override
    public void read(CacheSnapshot snapshot) {
      sink.success(snapshot);
    }

    @Override
    public void failed(ApiException failure) {
      sink.error(failure);
    }
  }
}
