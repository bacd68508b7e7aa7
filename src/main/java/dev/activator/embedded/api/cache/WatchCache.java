package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.ApiException;
import dev.activator.embedded.api.Commit;
import dev.activator.embedded.api.Kind;
import dev.activator.embedded.api.Listing;
import dev.activator.embedded.api.policy.Freshness;
import dev.activator.embedded.api.policy.Freshness.AtLeast;
import dev.activator.embedded.api.policy.Freshness.Exactly;
import dev.activator.embedded.api.policy.Freshness.Newest;
import dev.activator.embedded.api.policy.Freshness.Whatever;
import dev.activator.embedded.api.policy.WatchStart.After;
import dev.activator.embedded.api.policy.WatchStart.Now;
import dev.activator.embedded.api.policy.WatchStart.Snapshot;
import dev.activator.loop.Loop;
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
 * 429 before the first state.
 *
 * <p>
 * <b>Source.</b> {@code cacher/watch_cache.go} and {@code cacher/cacher.go} in Kubernetes'
 * apiserver, which guard with a lock what here has a loop.
 */
public final class WatchCache {
  private final Kind kind;
  private final Loop loop;
  private final LongSupplier newest;
  private final EventWindow window;
  private final FreshnessWaiters waiters;
  private final Watchers watchers;
  private volatile @Nullable CacheSnapshot published;

  /**
   * An empty cache, not ready until it is given a listing.
   *
   * @param newest the revision of the newest write anywhere
   */
  public WatchCache(Kind kind, Loop loop, CacheSettings settings, LongSupplier newest) {
    this.kind = kind;
    this.loop = loop;
    this.newest = newest;
    this.window = new EventWindow(settings.capacity());
    this.waiters = new FreshnessWaiters(loop, settings.blockTimeout());
    this.watchers = new Watchers(loop, settings);
  }

  public Kind kind() {
    return kind;
  }

  /** Begins anew with this state: all watchers end. On the loop. */
  public void replace(Listing listing) {
    var objects = SortedObjects
        .of(listing.objects().stream().map(object -> CachedObject.of(kind, object)).toList());
    watchers.endAll(listing.revision());
    window.restart(objects, listing.revision());
    publish(new CacheSnapshot(objects, listing.revision()));
  }

  /** Has no state to serve until the next listing: all watchers end. On the loop. */
  public void takeDown() {
    endWatches();
    published = null;
  }

  /** Forgets all events: who is not up to date must list again. On the loop. */
  public void compact() {
    window.restart(current().objects(), current().revision());
  }

  /** Takes in one change. On the loop. */
  public void apply(Commit commit) {
    var current = current();
    var object = CachedObject.of(kind, commit.object());
    var previous = current.objects().find(object.key());
    var after = switch (commit.type()) {
      case ADDED, MODIFIED -> current.objects().with(object);
      case DELETED -> current.objects().without(object.key());
    };
    var event = new CacheEvent(commit.type(), object, previous, after, loop.nanoTime());
    window.append(event);
    publish(new CacheSnapshot(after, commit.revision()));
    watchers.dispatch(event);
  }

  /** Nothing of this kind changed up to this revision. On the loop. */
  public void progress(long revision) {
    var current = current();
    if (revision > current.revision()) {
      publish(new CacheSnapshot(current.objects(), revision));
      watchers.progress(revision);
    }
  }

  /** Gives the reader a state that is as new as it asks, as soon as there is one. */
  public void read(Freshness freshness, SnapshotReader reader) {
    var snapshot = published;
    if (snapshot == null) {
      reader.failed(Failures.notReady());
    } else if (freshness instanceof Exactly(var revision)) {
      loop.execute(() -> readExactly(revision, reader));
    } else {
      long least = least(freshness);
      if (snapshot.revision() >= least) {
        reader.read(snapshot);
      } else {
        loop.execute(() -> whenFresh(least, reader::read, reader::failed));
      }
    }
  }

  /** Begins a watch; what goes wrong is told through the outlet. */
  public Watch watch(WatchRequest request, Outlet outlet) {
    var session = new WatchSession(request, outlet, watchers);
    loop.execute(() -> begin(session));
    return session;
  }

  /** Ends all watches. On the loop. */
  public void endWatches() {
    var snapshot = published;
    watchers.endAll(snapshot == null ? 0 : snapshot.revision());
  }

  /** How many watch now. On the loop. */
  int watching() {
    return watchers.count();
  }

  private void begin(WatchSession session) {
    session.begin();
    if (published == null) {
      session.fail(Failures.notReady());
      return;
    }
    switch (session.request().start()) {
      case Snapshot(var freshness) -> whenFresh(least(freshness),
          snapshot -> open(session, new Backlog.Objects(snapshot, session.request()), 0),
          session::fail);
      case Now(var freshness) -> whenFresh(least(freshness), snapshot -> open(session,
          events(session, window.end()), snapshot.revision()), session::fail);
      case After(var revision) -> beginAfter(revision, session);
    }
  }

  private void beginAfter(long revision, WatchSession session) {
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
    long covered = Math.max(told, current().revision());
    session.open(backlog, told, covered, CacheSettings.buffer(window.capacity()));
  }

  private Backlog events(WatchSession session, long first) {
    return new Backlog.Events(window, session.request().selection(), first);
  }

  private void readExactly(long revision, SnapshotReader reader) {
    whenFresh(revision, _ -> {
      var objects = window.objectsAt(revision);
      if (objects == null) {
        reader.failed(Failures.listTooOld());
      } else {
        reader.read(new CacheSnapshot(objects, revision));
      }
    }, reader::failed);
  }

  private void whenFresh(long revision, Consumer<CacheSnapshot> fresh,
      Consumer<ApiException> late) {
    if (current().revision() >= revision) {
      fresh.accept(current());
    } else {
      waiters.add(revision, () -> fresh.accept(current()),
          () -> late.accept(Failures.tooNew(revision, current().revision())));
    }
  }

  private long least(Freshness freshness) {
    return switch (freshness) {
      case Whatever _ -> 0;
      case Newest _ -> newest.getAsLong();
      case AtLeast(var revision) -> revision;
      case Exactly(var revision) -> revision;
    };
  }

  private CacheSnapshot current() {
    var snapshot = published;
    if (snapshot == null) {
      throw new IllegalStateException("the cache of " + kind + " was given no listing yet");
    }
    return snapshot;
  }

  private void publish(CacheSnapshot snapshot) {
    published = snapshot;
    waiters.reached(snapshot.revision());
  }
}
