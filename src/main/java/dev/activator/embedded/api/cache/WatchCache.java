package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.policy.Freshness;
import dev.activator.embedded.api.policy.Freshness.AtLeast;
import dev.activator.embedded.api.policy.Freshness.Exactly;
import dev.activator.embedded.api.policy.Freshness.Newest;
import dev.activator.embedded.api.policy.Freshness.Whatever;
import dev.activator.embedded.api.policy.WatchStart;
import dev.activator.embedded.api.policy.WatchStart.After;
import dev.activator.embedded.api.policy.WatchStart.Now;
import dev.activator.embedded.api.policy.WatchStart.Snapshot;
import dev.activator.embedded.api.store.ApiException;
import dev.activator.embedded.api.store.Commit;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Listing;
import dev.activator.embedded.api.store.Meta;
import dev.activator.loop.Loop;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The newest state of one kind, the events before it, and its watchers.
 *
 * <p>
 * <b>Threads.</b> All of it lives on one loop, so that nothing falls between a state and the events
 * after it. {@link #read} and {@link #watch} may be called from any thread; what feeds it calls on
 * the loop. A read that the published state can answer is answered on the caller's thread.
 *
 * <p>
 * <b>Errors.</b> {@link ApiException} 410 for what is no longer here, 504 for what is not here yet,
 * 429 while there is no state to serve.
 *
 * <p>
 * <b>Source.</b> {@code cacher/watch_cache.go} and {@code cacher/cacher.go} in Kubernetes'
 * apiserver, which guard with a lock what here has a loop.
 */
public final class WatchCache {
  private final Kind kind;
  private final Loop loop;
  private final LongSupplier newest;
  private final List<Indexer> indexers;
  private final EventWindow window;
  private final FreshnessWaiters waiters;
  private final Watchers watchers;
  private volatile Readiness readiness;
  private volatile CacheSnapshot published = new CacheSnapshot(SortedObjects.EMPTY, 0);

  /**
   * An empty cache, not ready until it is given a listing.
   *
   * @param newest the revision of the newest write anywhere
   */
  public WatchCache(Kind kind, Loop loop, CacheSettings settings, LongSupplier newest) {
    this.kind = kind;
    this.loop = loop;
    this.newest = newest;
    this.indexers = Indexer.of(kind);
    this.window = new EventWindow(settings.capacity());
    this.waiters = new FreshnessWaiters(loop, settings.blockTimeout());
    this.watchers = new Watchers(loop, settings, indexers);
    this.readiness = Readiness.never(loop.nanoTime());
  }

  public Kind kind() {
    return kind;
  }

  /**
   * Begins anew with this state: all watchers end. On the loop.
   *
   * @throws RuntimeException if an object is not one that was stored, or if the state is older than
   *         what was served already; nothing has changed then
   */
  public void replace(Listing listing) {
    if (listing.revision() < published.revision()) {
      throw new IllegalStateException("the cache of " + kind + " is at " + published.revision()
          + " and cannot go back to " + listing.revision());
    }
    var objects = SortedObjects.indexed(indexers).withAll(
        listing.objects().stream().map(object -> CachedObject.of(kind, object)).toList());
    watchers.endAll(listing.revision());
    window.restart(objects, listing.revision());
    // In this order: who sees that the cache is ready also sees the state it is ready with.
    published = new CacheSnapshot(objects, listing.revision());
    readiness = readiness.up(loop.nanoTime());
    waiters.reached(listing.revision());
  }

  /** Has no state to serve until the next listing: all watchers end. On the loop. */
  public void takeDown() {
    readiness = readiness.down(loop.nanoTime());
    watchers.endAll(published.revision());
  }

  /** Forgets all events: who is not up to date must list again. On the loop. */
  public void compact() {
    window.restart(published.objects(), published.revision());
  }

  /**
   * Takes in one change. On the loop.
   *
   * @throws RuntimeException if the object is not one that was stored, or if the change is not
   *         newer than the cache; nothing has changed then
   */
  public void apply(Commit commit) {
    var objects = published.objects();
    var previous = objects.find(Meta.key(commit.object()));
    var object = CachedObject.of(kind, commit.object(), previous);
    var after = switch (commit.type()) {
      case ADDED, MODIFIED -> objects.with(object);
      case DELETED -> objects.without(object.key());
    };
    var event = new CacheEvent(commit.type(), object, previous, after, loop.nanoTime());
    window.append(event);
    publish(new CacheSnapshot(after, commit.revision()));
    watchers.dispatch(event);
  }

  /** Nothing of this kind changed up to this revision. On the loop. */
  public void progress(long revision) {
    if (revision > published.revision()) {
      publish(new CacheSnapshot(published.objects(), revision));
      watchers.progress(revision);
    }
  }

  /**
   * Refuses what is asked while there is no state to serve.
   *
   * @throws ApiException 429
   */
  public void requireReady() {
    if (!readiness.ready()) {
      throw notReady();
    }
  }

  /** Gives the reader a state that is as new as it asks, as soon as there is one. */
  public Reading read(Freshness freshness, SnapshotReader reader) {
    if (!readiness.ready()) {
      reader.failed(notReady());
      return Read.DONE;
    }
    var snapshot = published;
    if (freshness instanceof Exactly(var revision)) {
      return later(revision, reader, _ -> readExactly(revision, reader));
    }
    long least = least(freshness);
    if (snapshot.revision() >= least) {
      reader.read(snapshot);
      return Read.DONE;
    }
    return later(least, reader, reader::read);
  }

  /** Begins a watch; what goes wrong is told through the outlet. */
  public Watch watch(WatchRequest request, Outlet outlet) {
    var session = new WatchSession(request, outlet, watchers);
    loop.execute(() -> begin(session));
    return session;
  }

  /** Ends all watches. On the loop. */
  public void endWatches() {
    watchers.endAll(published.revision());
  }

  /** How many watches were ended because their clients were too slow. */
  public long terminatedWatches() {
    return watchers.terminated();
  }

  /** How many watch now. On the loop. */
  int watching() {
    return watchers.count();
  }

  /** How many wait for a state that is new enough. On the loop. */
  int waiting() {
    return waiters.size();
  }

  /** The events before the newest state. On the loop. */
  public EventWindow window() {
    return window;
  }

  private void begin(WatchSession session) {
    if (session.closed()) {
      return;
    }
    var start = session.request().start();
    // Before the client hears that the watch is on: what it writes from then on is news to it.
    long least = least(start);
    session.begin();
    if (!readiness.ready()) {
      session.fail(notReady());
      return;
    }
    switch (start) {
      case Snapshot _ -> beginFresh(least, session,
          snapshot -> open(session, new Backlog.Objects(snapshot, session.request()), 0));
      case Now _ -> beginFresh(least, session,
          snapshot -> open(session, events(session, window.end()), snapshot.revision()));
      case After(var revision) -> beginAfter(revision, session);
    }
  }

  private void beginFresh(long least, WatchSession session, Consumer<CacheSnapshot> begin) {
    int generation = readiness.generation();
    session.waitsAs(whenFresh(least, snapshot -> {
      if (readiness.generation() == generation) {
        begin.accept(snapshot);
      } else {
        session.close();
      }
    }, session::fail));
  }

  private void beginAfter(long revision, WatchSession session) {
    if (!window.initialized()) {
      session.fail(Failures.notInitialized());
      return;
    }
    long oldest = window.oldestRevision();
    if (revision < oldest) {
      session.fail(Failures.tooOld(revision, oldest));
    } else {
      open(session, events(session, window.firstAfter(revision)), revision);
    }
  }

  private void open(WatchSession session, Backlog backlog, long told) {
    // The backlog ends with the newest event there is now, dispatched or not. Who asked for the
    // future gets nothing before it.
    long covered = Math.max(told, published.revision());
    session.open(backlog, new Watcher.Progress(told, covered),
        watchers.buffer(session.request().selection(), window.capacity()));
  }

  private Backlog events(WatchSession session, long first) {
    return new Backlog.Events(window, session.request().selection(), first);
  }

  private Reading later(long revision, SnapshotReader reader, Consumer<CacheSnapshot> fresh) {
    var read = new Read(loop);
    read.begin(() -> whenFresh(revision, fresh, reader::failed));
    return read;
  }

  private void readExactly(long revision, SnapshotReader reader) {
    var objects = window.objectsAt(revision);
    if (objects == null) {
      reader.failed(Failures.listTooOld());
    } else {
      reader.read(new CacheSnapshot(objects, revision));
    }
  }

  /** Does one of the two, now or later; the waiter is for leaving before, null if it is done. */
  private FreshnessWaiters.@Nullable Waiter whenFresh(long revision,
      Consumer<CacheSnapshot> fresh, Consumer<ApiException> late) {
    if (published.revision() >= revision) {
      fresh.accept(published);
      return null;
    }
    return waiters.add(revision, () -> fresh.accept(published),
        () -> late.accept(Failures.tooNew(revision, published.revision())));
  }

  private long least(WatchStart start) {
    return switch (start) {
      case Snapshot(var freshness) -> least(freshness);
      case Now(var freshness) -> least(freshness);
      case After _ -> 0;
    };
  }

  private long least(Freshness freshness) {
    return switch (freshness) {
      case Whatever _ -> 0;
      case Newest _ -> newest.getAsLong();
      case AtLeast(var revision) -> revision;
      case Exactly(var revision) -> revision;
    };
  }

  private ApiException notReady() {
    return Failures.notReady(readiness.retryAfterSeconds(loop.nanoTime()));
  }

  private void publish(CacheSnapshot snapshot) {
    published = snapshot;
    waiters.reached(snapshot.revision());
  }
}
