package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.object.Kind;
import dev.activator.embedded.api.object.Subscription;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Commit;
import dev.activator.embedded.api.store.Listing;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Brings the store's commits to the caches, in order. Every cache hears of every commit: one of
 * another kind tells it that nothing of its own changed up to there. For tests it can be held up,
 * for one kind or more, and then goes on where it was.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in; all caches live on its loop.
 */
public final class Feed {
  private final ApiStore store;
  private final Map<Kind, FeedLine> lines = new LinkedHashMap<>();
  private final Loop loop;
  private final CountDownLatch filled = new CountDownLatch(1);

  public Feed(ApiStore store, Map<Kind, WatchCache> caches, Loop loop) {
    this.store = store;
    this.loop = loop;
    caches.forEach(
        (kind, cache) -> lines.put(kind, new FeedLine(cache, loop, () -> fill(List.of(kind)))));
  }

  /** Fills the caches and goes on from there, until the subscription is closed. */
  public Subscription start() {
    var following = store.follow(new ArrayList<>(lines.keySet()), this::restart,
        commit -> loop.execute(() -> deliver(commit)));
    loop.execute(filled::countDown);
    return following;
  }

  /** Waits until the caches are filled; false if that takes too long. Not for the loop's thread. */
  public boolean awaitFilled(Duration timeout) throws InterruptedException {
    return filled.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Brings nothing to the caches of these kinds, until they are freed. */
  public void freeze(List<Kind> kinds) {
    onLines(kinds, FeedLine::freeze);
  }

  /** Brings each commit to the caches of these kinds so much later, until they are freed. */
  public void delay(List<Kind> kinds, Duration delay) {
    onLines(kinds, line -> line.delay(delay));
  }

  /** Brings all that was held up to the caches of these kinds, and no longer holds anything up. */
  public void free(List<Kind> kinds) {
    onLines(kinds, FeedLine::free);
  }

  /** The caches of these kinds forget their events. */
  public void compact(List<Kind> kinds) {
    onLines(kinds, FeedLine::compact);
  }

  /** The caches of these kinds have nothing to serve, until they are filled again. */
  public void takeDown(List<Kind> kinds) {
    onLines(kinds, FeedLine::takeDown);
  }

  /** Fills the caches of these kinds anew. */
  public void fill(List<Kind> kinds) {
    store.follow(kinds, this::restart, _ -> {
      // The line hears of what follows with all others.
    }).close();
  }

  private void restart(Listing listing) {
    onLines(List.of(listing.kind()), line -> line.restart(listing));
  }

  private void onLines(List<Kind> kinds, Consumer<FeedLine> action) {
    loop.execute(() -> kinds.forEach(kind -> {
      var line = lines.get(kind);
      if (line != null) {
        action.accept(line);
      }
    }));
  }

  private void deliver(Commit commit) {
    lines.values().forEach(line -> line.take(commit));
  }
}
