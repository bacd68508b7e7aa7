package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Commit;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Listing;
import dev.activator.embedded.api.store.Subscription;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the store's commits to the caches, in order. Every cache is told of every commit: one of
 * another kind tells it that nothing of its own changed up to that revision.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in; all caches live on its loop.
 */
public final class Feed {
  private static final Logger log = LoggerFactory.getLogger(Feed.class);
  /** Before a cache that could not be filled is filled again. */
  private static final Duration REFILL_PAUSE = Duration.ofSeconds(1);

  private final ApiStore store;
  private final Loop loop;
  private final Map<Kind, Line> lines = new LinkedHashMap<>();
  private final CountDownLatch filled = new CountDownLatch(1);

  /**
   * A feed that brings nothing until it is started.
   *
   * @param hook puts something between the commits and the cache of a kind, as tests do
   */
  public Feed(ApiStore store, Map<Kind, WatchCache> caches, Loop loop,
      BiFunction<Kind, Consumer<Commit>, Consumer<Commit>> hook) {
    this.store = store;
    this.loop = loop;
    caches.forEach((kind, cache) -> {
      var line = new Line(cache);
      line.input = hook.apply(kind, line::deliver);
      lines.put(kind, line);
    });
  }

  /** Fills the caches and goes on from there, until the subscription is closed. */
  public Subscription start() {
    var following = store.follow(new ArrayList<>(lines.keySet()), this::restart,
        commit -> loop.execute(() -> deliver(commit)));
    loop.execute(filled::countDown);
    return following;
  }

  /** Waits until the caches are filled; false on timeout. Not for the loop's thread. */
  public boolean awaitFilled(Duration timeout) throws InterruptedException {
    return filled.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Fills the cache of this kind anew. */
  void fill(Kind kind) {
    store.follow(List.of(kind), this::restart, _ -> {
      // The line is told of what follows with all others.
    }).close();
  }

  /** The way of the commits to the cache of a kind. For the loop. */
  Line line(Kind kind) {
    return Objects.requireNonNull(lines.get(kind));
  }

  private void restart(Listing listing) {
    loop.execute(() -> line(listing.kind()).restart(listing));
  }

  private void deliver(Commit commit) {
    lines.values().forEach(line -> line.input.accept(commit));
  }

  /** The way of the commits to one cache. Belongs to the loop. */
  final class Line {
    private final WatchCache cache;
    private Consumer<Commit> input = this::deliver;
    private boolean down;
    private long filledAt;

    Line(WatchCache cache) {
      this.cache = cache;
    }

    WatchCache cache() {
      return cache;
    }

    /** The cache has no state until it is filled again. */
    void takeDown() {
      down = true;
      cache.takeDown();
    }

    private void restart(Listing listing) {
      try {
        cache.replace(listing);
        down = false;
        filledAt = listing.revision();
      } catch (RuntimeException | StackOverflowError failed) {
        log.warn("The cache of {} cannot be filled; it is tried again in {}", cache.kind(),
            REFILL_PAUSE, failed);
        takeDown();
        loop.schedule(REFILL_PAUSE, () -> fill(cache.kind()));
      }
    }

    /** If the cache cannot take the commit, it is filled with a listing that has it. */
    private void deliver(Commit commit) {
      if (down || commit.revision() <= filledAt) {
        return;
      }
      try {
        if (cache.kind().equals(commit.kind())) {
          cache.apply(commit);
        } else {
          cache.progress(commit.revision());
        }
      } catch (RuntimeException | StackOverflowError failed) {
        log.warn("The cache of {} cannot take in revision {}; it is filled anew", cache.kind(),
            commit.revision(), failed);
        takeDown();
        fill(cache.kind());
      }
    }
  }
}
