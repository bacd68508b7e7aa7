package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.SortedObjects.CacheSnapshot;
import dev.activator.embedded.api.policy.ReadParameters.Freshness.AtLeast;
import dev.activator.embedded.api.policy.ReadParameters.Freshness.Exactly;
import dev.activator.embedded.api.policy.ReadParameters.Freshness.Newest;
import dev.activator.embedded.api.policy.ReadParameters.Freshness.Whatever;
import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.After;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.Now;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.Snapshot;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.loop.Loop;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The watch cache of one kind: its newest state, the events before it, and its watches.
 *
 * <p><b>Threads.</b> Any thread may call public methods. The others are called on the loop. A read
 * that the published state can answer completes on the caller's thread.
 *
 * <p><b>Errors.</b> {@link StatusException} 410 for a revision that is too old, 504 for one that is
 * too new, 429 while there is no state.
 *
 * <p><b>Source.</b> {@code cacher/watch_cache.go} and {@code cacher/cacher.go} in Kubernetes'
 * apiserver.
 */
public final class WatchCache {
  private final Kind kind;
  private final Loop loop;
  private final LongSupplier newest;
  private final List<IndexedField> indexers;
  private final WatchEventWindow window;
  private final FreshnessWaiters waiters;
  private final WatchDispatcher dispatcher;
  private volatile CacheReadiness readiness;
  private volatile CacheSnapshot published = new CacheSnapshot(SortedObjects.EMPTY, 0);

  public WatchCache(Kind kind, Loop loop, WatchCacheSettings settings, LongSupplier newest) {
    this.kind = kind;
    this.loop = loop;
    this.newest = newest;
    this.indexers = IndexedField.of(kind);
    this.window = new WatchEventWindow(settings.capacity());
    this.waiters = new FreshnessWaiters(loop, settings.blockTimeout());
    this.dispatcher = new WatchDispatcher(loop, settings, indexers);
    this.readiness = new CacheReadiness(false, 0, loop.nanoTime());
  }

  Kind kind() {
    return kind;
  }

  /**
   * Ends all watches.
   *
   * @throws RuntimeException if an object cannot have been stored, or the state is older than the
   *     published one; the cache is then unchanged
   */
  void replace(List<ObjectNode> listed, long revision) {
    if (revision < published.revision()) {
      throw new IllegalStateException("the cache of " + kind + " is at " + published.revision()
          + " and cannot go back to " + revision);
    }
    var objects = SortedObjects.indexed(indexers)
        .withAll(listed.stream().map(object -> WatchCacheObject.of(kind, object)).toList());
    dispatcher.endAll(revision);
    window.restart(objects, revision);
    // The order matters: a thread that sees that the cache is ready also sees its state.
    published = new CacheSnapshot(objects, revision);
    readiness = readiness.up(loop.nanoTime());
    waiters.reached(revision);
  }

  /** Ends all watches. */
  void takeDown() {
    readiness = readiness.down(loop.nanoTime());
    endWatches();
  }

  /**
   * @throws RuntimeException if the object cannot have been stored, or the change is not newer; the
   *     cache is then unchanged
   */
  void apply(ApiStoreChange change) {
    var objects = published.objects();
    var previous = objects.find(ObjectMeta.key(change.object()));
    var object = WatchCacheObject.of(kind, change.object(), previous);
    var after = switch (change.type()) {
      case ADDED, MODIFIED -> objects.with(object);
      case DELETED -> objects.without(object.key());
    };
    var event = new WatchCacheEvent(change.type(), object, previous, after, loop.nanoTime());
    window.append(event);
    publish(new CacheSnapshot(after, change.revision()));
    dispatcher.dispatch(event);
  }

  /** Advances the revision: nothing of this kind has changed up to it. */
  void progress(long revision) {
    if (revision > published.revision()) {
      publish(new CacheSnapshot(published.objects(), revision));
      dispatcher.progress(revision);
    }
  }

  void endWatches() {
    dispatcher.endAll(published.revision());
  }

  WatchDispatcher dispatcher() {
    return dispatcher;
  }

  int waiting() {
    return waiters.size();
  }

  WatchEventWindow window() {
    return window;
  }

  public void requireReady() {
    if (!readiness.ready()) {
      throw notReady();
    }
  }

  /** Reads the objects. The result can be cancelled. */
  public CompletableFuture<CacheSnapshot> read(Freshness freshness) {
    if (!readiness.ready()) {
      return CompletableFuture.failedFuture(notReady());
    }
    if (freshness instanceof Exactly(var revision)) {
      return later(revision, _ -> exactly(revision));
    }
    var snapshot = published;
    long least = least(freshness);
    return snapshot.revision() >= least
        ? CompletableFuture.completedFuture(snapshot)
        : later(least, newer -> newer);
  }

  private CompletableFuture<CacheSnapshot> later(long revision,
      UnaryOperator<CacheSnapshot> view) {
    var answer = new CompletableFuture<CacheSnapshot>();
    loop.execute(() -> {
      if (answer.isDone()) {
        return;
      }
      var waiter = whenFresh(revision, snapshot -> {
        try {
          answer.complete(view.apply(snapshot));
        } catch (StatusException e) {
          answer.completeExceptionally(e);
        }
      }, answer::completeExceptionally);
      answer.whenComplete((_, _) -> {
        if (answer.isCancelled() && waiter != null) {
          loop.execute(waiter::leave);
        }
      });
    });
    return answer;
  }

  private CacheSnapshot exactly(long revision) {
    var objects = window.objectsAt(revision);
    if (objects == null) {
      throw StatusException.expired("The resourceVersion for the provided list is too old.");
    }
    return new CacheSnapshot(objects, revision);
  }

  /** Begins a watch. Failures are sent to the outlet. */
  public CacheWatcher watch(CacheWatcher.Request request, CacheWatcher.Outlet outlet) {
    var watch = new CacheWatcher(request, outlet, dispatcher);
    loop.execute(() -> begin(watch));
    return watch;
  }

  private void begin(CacheWatcher watch) {
    if (watch.ended()) {
      return;
    }
    var start = watch.request().start();
    // This is computed before the client knows that the watch is open. Writes of the client after
    // that must be events.
    long least = switch (start) {
      case Snapshot(var freshness) -> least(freshness);
      case Now(var freshness) -> least(freshness);
      case After _ -> 0;
    };
    watch.begin();
    if (!readiness.ready()) {
      watch.fail(notReady());
      return;
    }
    switch (start) {
      case Snapshot _ -> openWhenFresh(least, watch, snapshot -> {
        var objects = watch.selection().in(snapshot.objects(), "");
        open(watch,
            new InitialWatchEvents.Objects(objects, snapshot.revision(),
                watch.request().bookmarks()),
            0);
      });
      case Now _ -> openWhenFresh(least, watch,
          snapshot -> open(watch, events(watch, window.end()), snapshot.revision()));
      case After(var revision) -> beginAfter(revision, watch);
    }
  }

  /**
   * Opens the watch when the cache is fresh enough. If the cache was filled again in between, the
   * watch is closed.
   */
  private void openWhenFresh(long least, CacheWatcher watch, Consumer<CacheSnapshot> open) {
    int generation = readiness.generation();
    watch.waitsAs(whenFresh(least, snapshot -> {
      if (readiness.generation() == generation) {
        open.accept(snapshot);
      } else {
        watch.close();
      }
    }, watch::fail));
  }

  private void beginAfter(long revision, CacheWatcher watch) {
    if (!window.initialized()) {
      watch.fail(StatusException.internal("the watch cache has no state to begin with"));
      return;
    }
    long oldest = window.oldestRevision();
    if (revision < oldest) {
      watch.fail(
          StatusException.expired("too old resource version: %d (%d)".formatted(revision, oldest)));
    } else {
      open(watch, events(watch, window.firstAfter(revision)), revision);
    }
  }

  private void open(CacheWatcher watch, InitialWatchEvents backlog, long known) {
    // The backlog covers all published events, even those that are not dispatched yet. A client
    // that requests a future revision gets no events before it.
    watch.open(backlog, known, Math.max(known, published.revision()), window.capacity());
  }

  private InitialWatchEvents events(CacheWatcher watch, long first) {
    return new InitialWatchEvents.Events(window, watch.selection(), first);
  }

  /**
   * Calls {@code fresh} when the cache has reached the revision, or {@code late} after a timeout.
   * Returns null if {@code fresh} was called at once.
   */
  private FreshnessWaiters.@Nullable Waiter whenFresh(long revision,
      Consumer<CacheSnapshot> fresh, Consumer<StatusException> late) {
    if (published.revision() >= revision) {
      fresh.accept(published);
      return null;
    }
    return waiters.add(revision, () -> fresh.accept(published),
        () -> late.accept(StatusException.tooNew(revision, published.revision())));
  }

  private long least(Freshness freshness) {
    return switch (freshness) {
      case Whatever _ -> 0;
      case Newest _ -> newest.getAsLong();
      case AtLeast(var revision) -> revision;
      case Exactly(var revision) -> revision;
    };
  }

  private void publish(CacheSnapshot snapshot) {
    published = snapshot;
    waiters.reached(snapshot.revision());
  }

  private StatusException notReady() {
    return StatusException.notReady(readiness.retryAfterSeconds(loop.nanoTime()));
  }

  /**
   * Whether the cache is filled, and since when.
   *
   * <p><b>Source.</b> {@code cacher/ready.go} and {@code calculateRetryAfterForUnreadyCache} in
   * {@code cacher/delegator.go} of Kubernetes' apiserver.
   *
   * @param generation the number of times that the cache was filled; a waiting watch is closed if
   *     it changes
   */
  private record CacheReadiness(boolean ready, int generation, long sinceNanos) {
    private static final double GROWTH_PER_SECOND = 0.06;
    private static final int MAX_SECONDS = 30;

    CacheReadiness up(long nowNanos) {
      return new CacheReadiness(true, generation + 1, nowNanos);
    }

    CacheReadiness down(long nowNanos) {
      return ready ? new CacheReadiness(false, generation, nowNanos) : this;
    }

    int retryAfterSeconds(long nowNanos) {
      double downSeconds = (nowNanos - sinceNanos) / (double) TimeUnit.SECONDS.toNanos(1);
      return (int) Math.clamp(Math.exp(GROWTH_PER_SECOND * downSeconds), 1, MAX_SECONDS);
    }
  }
}
