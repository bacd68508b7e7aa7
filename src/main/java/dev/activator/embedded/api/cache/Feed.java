package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.ApiStore;
import dev.activator.embedded.api.Commit;
import dev.activator.embedded.api.Kind;
import dev.activator.embedded.api.Subscription;
import dev.activator.loop.Loop;
import java.util.ArrayList;
import java.util.Map;

/**
 * Brings the store's commits to the caches, in order. Every cache hears of every commit: one of
 * another kind tells it that nothing of its own changed up to there.
 *
 * <p>
 * <b>Threads.</b> Any thread may start it; all caches live on its loop.
 */
public final class Feed {
  private final ApiStore store;
  private final Map<Kind, WatchCache> caches;
  private final Loop loop;

  public Feed(ApiStore store, Map<Kind, WatchCache> caches, Loop loop) {
    this.store = store;
    this.caches = Map.copyOf(caches);
    this.loop = loop;
  }

  /** Fills the caches and goes on from there, until the subscription is closed. */
  public Subscription start() {
    return store.follow(new ArrayList<>(caches.keySet()), listing -> loop.execute(() -> {
      var cache = caches.get(listing.kind());
      if (cache != null) {
        cache.replace(listing);
      }
    }), commit -> loop.execute(() -> deliver(commit)));
  }

  private void deliver(Commit commit) {
    for (var cache : caches.values()) {
      if (cache.kind().equals(commit.kind())) {
        cache.apply(commit);
      } else {
        cache.progress(commit.revision());
      }
    }
  }
}
