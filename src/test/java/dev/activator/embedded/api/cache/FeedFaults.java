package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.Kind;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Holds up what is brought to the caches of some kinds, makes them forget, and takes them down.
 *
 * <p><b>Threads.</b> Any thread may call in; all is done on the caches' loop.
 */
public final class FeedFaults {
  private final Loop loop;
  private final Map<Kind, Held> lines = new ConcurrentHashMap<>();

  public FeedFaults(Loop loop) {
    this.loop = loop;
  }

  /** What stands between the commits and the cache of the kind. */
  public Consumer<ApiStoreChange> over(Kind kind, Consumer<ApiStoreChange> cache) {
    var held = new Held(cache);
    lines.put(kind, held);
    return held::take;
  }

  /** Brings nothing to the caches of these kinds, until they are freed. */
  public void freeze(List<Kind> kinds) {
    each(kinds, line -> line.frozen = true);
  }

  /** Brings each commit to the caches of these kinds so much later, until they are freed. */
  public void delay(List<Kind> kinds, Duration delay) {
    each(kinds, line -> line.delay = delay);
  }

  /** Brings all that was held up to the caches of these kinds, and no longer holds anything up. */
  public void free(List<Kind> kinds) {
    each(kinds, Held::free);
  }

  /** The caches of these kinds forget their events. */
  public void compact(WatchCaches caches, List<Kind> kinds) {
    loop.execute(() -> kinds.forEach(
        kind -> caches.feed(kind).map(WatchCaches.Feed::cache).ifPresent(FeedFaults::forget)));
  }

  /** The cache forgets its events: a client that is not up to date must list again. */
  static void forget(WatchCache cache) {
    cache.read(new Freshness.Whatever())
        .thenAccept(now -> cache.window().restart(now.objects(), now.revision()));
  }

  /** The caches of these kinds have nothing to serve, until they are filled again. */
  public void takeDown(WatchCaches caches, List<Kind> kinds) {
    loop.execute(
        () -> kinds.forEach(kind -> caches.feed(kind).ifPresent(WatchCaches.Feed::takeDown)));
  }

  /** Fills the caches of these kinds anew. */
  public void fill(WatchCaches caches, List<Kind> kinds) {
    kinds.forEach(caches::fill);
  }

  private void each(List<Kind> kinds, Consumer<Held> action) {
    loop.execute(() -> kinds.forEach(kind -> action.accept(lines.get(kind))));
  }

  /** A commit that waits for its time. */
  private record Late(ApiStoreChange commit, long dueNanos) {}

  /** What waits on its way to one cache. */
  private final class Held {
    private final Consumer<ApiStoreChange> cache;
    private final Queue<Late> waiting = new ArrayDeque<>();
    private Duration delay = Duration.ZERO;
    private boolean frozen;

    Held(Consumer<ApiStoreChange> cache) {
      this.cache = cache;
    }

    void take(ApiStoreChange commit) {
      if (!frozen && delay.isZero() && waiting.isEmpty()) {
        cache.accept(commit);
        return;
      }
      waiting.add(new Late(commit, loop.nanoTime() + delay.toNanos()));
      loop.schedule(delay, this::bringDue);
    }

    void free() {
      delay = Duration.ZERO;
      frozen = false;
      while (!waiting.isEmpty()) {
        cache.accept(waiting.remove().commit());
      }
    }

    private void bringDue() {
      var next = waiting.peek();
      while (!frozen && next != null && next.dueNanos() - loop.nanoTime() <= 0) {
        cache.accept(waiting.remove().commit());
        next = waiting.peek();
      }
    }
  }
}
