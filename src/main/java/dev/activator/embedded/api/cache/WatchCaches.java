package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.ApiStore.ObjectList;
import dev.activator.embedded.api.store.ApiStore.StoreSubscription;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The watch caches of all kinds. Each cache receives each commit, in order; a commit of another
 * kind only advances its revision. The cache for the kind of a CustomResourceDefinition is created
 * at its first use, and removed with the kind.
 *
 * <p><b>Threads.</b> Any thread may call. All caches use one loop.
 */
public final class WatchCaches {
  private static final Logger log = LoggerFactory.getLogger(WatchCaches.class);
  private static final Duration REFILL_PAUSE = Duration.ofSeconds(1);

  private final ApiStore store;
  private final Loop loop;
  private final WatchCacheSettings settings;
  private final BiFunction<Kind, Consumer<ApiStoreChange>, Consumer<ApiStoreChange>> hook;
  private final Map<Kind, Feed> feeds = new ConcurrentHashMap<>();
  private StoreSubscription following = () -> {
  };

  /** @param hook a hook of tests that wraps the input of a kind's cache */
  public WatchCaches(ApiStore store, Loop loop, WatchCacheSettings settings,
      BiFunction<Kind, Consumer<ApiStoreChange>, Consumer<ApiStoreChange>> hook) {
    this.store = store;
    this.loop = loop;
    this.settings = settings;
    this.hook = hook;
    BuiltInKinds.all().forEach(kind -> feeds.put(kind, new Feed(kind)));
  }

  public CompletableFuture<Void> start() {
    var leaving = store.kinds().onLeaving(kind -> loop.execute(() -> forget(kind)));
    var commits = store.follow(BuiltInKinds.all(), this::refill,
        commit -> loop.execute(() -> feeds.values().forEach(feed -> feed.input.accept(commit))));
    following = () -> {
      leaving.close();
      commits.close();
    };
    return CompletableFuture.allOf(
        feeds.values().stream().map(feed -> feed.filled).toArray(CompletableFuture<?>[]::new));
  }

  public void stop() {
    following.close();
  }

  /** The cache of a kind, when it is filled; empty for a kind that is not served. */
  public Optional<CompletableFuture<WatchCache>> of(Kind kind) {
    var feed = feeds.get(kind);
    if (feed == null && store.kinds().all().contains(kind)) {
      var fresh = new Feed(kind);
      feed = feeds.putIfAbsent(kind, fresh);
      if (feed == null) {
        feed = fresh;
        fill(kind);
      }
    }
    return Optional.ofNullable(feed).map(found -> found.filled);
  }

  void fill(Kind kind) {
    store.follow(List.of(kind), this::refill, _ -> {
      // The feed receives later commits like all other feeds.
    }).close();
  }

  Optional<Feed> feed(Kind kind) {
    return Optional.ofNullable(feeds.get(kind));
  }

  private void refill(ObjectList listed) {
    loop.execute(() -> feed(listed.kind()).ifPresent(feed -> feed.restart(listed)));
  }

  private void forget(Kind kind) {
    var gone = feeds.remove(kind);
    if (gone != null) {
      gone.cache.endWatches();
    }
  }

  final class Feed {
    private final WatchCache cache;
    private final Consumer<ApiStoreChange> input;
    private final CompletableFuture<WatchCache> filled = new CompletableFuture<>();
    private boolean down = true;
    private long filledAt;

    private Feed(Kind kind) {
      this.cache = new WatchCache(kind, loop, settings, store::revision);
      this.input = hook.apply(kind, this::deliver);
    }

    WatchCache cache() {
      return cache;
    }

    void takeDown() {
      down = true;
      cache.takeDown();
    }

    private void restart(ObjectList listed) {
      try {
        cache.replace(listed.objects(), listed.revision());
        down = false;
        filledAt = listed.revision();
      } catch (RuntimeException | StackOverflowError e) {
        log.warn("The cache of {} cannot be filled; it is tried again in {}", cache.kind(),
            REFILL_PAUSE, e);
        takeDown();
        loop.schedule(REFILL_PAUSE, () -> fill(cache.kind()));
      }
      filled.complete(cache);
    }

    /** Passes a commit to the cache. If that fails, the cache is filled again. */
    private void deliver(ApiStoreChange commit) {
      if (down || commit.revision() <= filledAt) {
        return;
      }
      try {
        if (cache.kind().equals(commit.kind())) {
          cache.apply(commit);
        } else {
          cache.progress(commit.revision());
        }
      } catch (RuntimeException | StackOverflowError e) {
        log.warn("The cache of {} cannot apply revision {}; it is filled again", cache.kind(),
            commit.revision(), e);
        takeDown();
        fill(cache.kind());
      }
    }
  }
}
