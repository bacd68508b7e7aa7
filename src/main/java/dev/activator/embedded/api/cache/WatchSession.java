package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiException;
import dev.activator.loop.Loop;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One watch from the request to its end, with its clocks: bookmarks, the deadline, and the moment
 * between a failure and the end. Once it has ended, nothing refers to it.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop, but for {@link #resume} and {@link #cancel}.
 */
final class WatchSession implements Watch {
  /** A client that sees its watch end before that takes it for a broken server. */
  private static final Duration SHORTEST = Duration.ofSeconds(2);
  private static final Loop.Timer NONE = () -> {
  };

  private final WatchRequest request;
  private final Outlet outlet;
  private final Watchers watchers;
  private FreshnessWaiters.@Nullable Waiter waiter;
  private @Nullable Watcher watcher;
  private Loop.Timer end = NONE;
  private Loop.Timer bookmark = NONE;
  private boolean closed;

  WatchSession(WatchRequest request, Outlet outlet, Watchers watchers) {
    this.request = request;
    this.outlet = outlet;
    this.watchers = watchers;
  }

  WatchRequest request() {
    return request;
  }

  boolean closed() {
    return closed;
  }

  void begin() {
    outlet.begin(this);
  }

  /** It has to wait before it can open; it leaves the waiter if it ends before. */
  void waitsAs(FreshnessWaiters.@Nullable Waiter waiting) {
    waiter = waiting;
  }

  /**
   * Begins to send.
   *
   * @param backlog what comes first
   * @param progress how far the client is, and the backlog
   * @param bufferSize how many events may wait
   */
  void open(Backlog backlog, Watcher.Progress progress, int bufferSize) {
    waiter = null;
    var opened = new Watcher(request, new Watcher.Ends(outlet, this::release), backlog, progress,
        bufferSize);
    watcher = opened;
    watchers.add(opened);
    var timeout = request.timeout().compareTo(SHORTEST) < 0 ? SHORTEST : request.timeout();
    end = watchers.loop().schedule(timeout, this::expire);
    if (request.wantsBookmarks()) {
      bookmarkNext(opened, Duration.ZERO, timeout.minus(watchers.settings().bookmarkLead()));
    }
    opened.drain();
  }

  /** Says why there is nothing to watch, and ends a little later, so that it is heard. */
  void fail(ApiException failure) {
    waiter = null;
    outlet.send(new Signal.Failed(failure));
    end = watchers.loop().schedule(watchers.settings().lingering(), this::close);
  }

  /** Ends without a word. */
  void close() {
    if (closed) {
      return;
    }
    var opened = watcher;
    if (opened == null) {
      release();
      outlet.end();
    } else {
      opened.end();
      watchers.resumed();
    }
  }

  @Override
  public void resume() {
    watchers.loop().execute(() -> {
      var opened = watcher;
      if (opened != null) {
        opened.drain();
        watchers.resumed();
      }
    });
  }

  @Override
  public void cancel() {
    watchers.loop().execute(this::close);
  }

  /** Each sets the clock for the one after, so that a watch of an hour has one clock, not sixty. */
  private void bookmarkNext(Watcher opened, Duration age, Duration last) {
    var usual = age.plus(watchers.settings().bookmarkPeriod());
    var next = usual.compareTo(last) < 0 ? usual : last;
    if (next.compareTo(age) > 0) {
      bookmark = watchers.loop().schedule(next.minus(age), () -> {
        opened.bookmark(watchers.dispatched());
        bookmarkNext(opened, next, last);
      });
    }
  }

  /** A client that is told nothing before the end begins again from long ago. */
  private void expire() {
    var opened = watcher;
    if (opened != null) {
      opened.bookmark(watchers.dispatched());
    }
    close();
  }

  private void release() {
    closed = true;
    end.cancel();
    bookmark.cancel();
    if (waiter != null) {
      waiter.leave();
      waiter = null;
    }
    if (watcher != null) {
      watchers.forget(watcher);
      watcher = null;
    }
  }
}
