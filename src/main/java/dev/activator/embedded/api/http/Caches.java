package dev.activator.embedded.api.http;

import dev.activator.embedded.api.Kind;
import dev.activator.embedded.api.cache.CacheSnapshot;
import dev.activator.embedded.api.cache.SnapshotReader;
import dev.activator.embedded.api.cache.WatchCache;
import dev.activator.embedded.api.policy.Freshness;
import dev.activator.embedded.api.ApiException;
import java.util.Map;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/** The caches of all kinds, as publishers. */
public final class Caches {
  private final Map<Kind, WatchCache> byKind;

  public Caches(Map<Kind, WatchCache> byKind) {
    this.byKind = Map.copyOf(byKind);
  }

  WatchCache of(Kind kind) {
    var cache = byKind.get(kind);
    if (cache == null) {
      throw Refusals.noSuchResource();
    }
    return cache;
  }

  /** A state that is as new as asked. What is made of it is not made on the cache's loop. */
  Mono<CacheSnapshot> read(Kind kind, Freshness freshness) {
    return Mono.<CacheSnapshot>create(sink -> {
      var reading = of(kind).read(freshness, new ToSink(sink));
      sink.onCancel(reading::cancel);
    }).publishOn(Schedulers.parallel());
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
