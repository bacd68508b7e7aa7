package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.ApiException;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One watch from the request to its end, with its clocks: bookmarks, the deadline, and the moment
 * between a failure and the end.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop, but for {@link #resume} and {@link #cancel}.
 */
final class WatchSession implements Watch {
  /** A client that sees its watch end before that takes it for a broken server. */
  private static final Duration SHORTEST = Duration.ofSeconds(2);

  private final WatchRequest request;
  private final Outlet outlet;
  private final Watchers watchers;
  private final List<Loop.Timer> timers = new ArrayList<>();
  private @Nullable Watcher watcher;
  private boolean closed;

  WatchSession(WatchRequest request, Outlet outlet, Watchers watchers) {
    this.request = request;
    this.outlet = outlet;
    this.watchers = watchers;
  }

  WatchRequest request() {
    return request;
  }

  void begin() {
    if (!closed) {
      outlet.begin();
    }
  }

  /**
   * Begins to send.
   *
   * @param backlog what comes first
   * @param told the revision the client has, 0 if it has none
   * @param covered the revision up to which the backlog says everything
   */
  void open(Backlog backlog, long told, long covered, int bufferSize) {
    if (closed) {
      return;
    }
    var opened = new Watcher(request, outlet, backlog, new Watcher.Progress(told, covered),
        bufferSize);
    watcher = opened;
    watchers.add(opened);
    var timeout = request.timeout().compareTo(SHORTEST) < 0 ? SHORTEST : request.timeout();
    later(timeout, this::close);
    if (request.bookmarks() == WatchRequest.Bookmarks.WANTED) {
      scheduleBookmarks(opened, timeout);
    }
    watchers.resumed(opened);
  }

  /** Says why there is nothing to watch, and ends a little later, so that it is heard. */
  void fail(ApiException failure) {
    if (!closed) {
      outlet.send(new Signal.Failed(failure));
      later(watchers.settings().lingering(), this::close);
    }
  }

  @Override
  public void resume() {
    watchers.loop().execute(() -> {
      var opened = watcher;
      if (opened != null && !closed) {
        watchers.resumed(opened);
      }
    });
  }

  @Override
  public void cancel() {
    watchers.loop().execute(this::close);
  }

  private void scheduleBookmarks(Watcher opened, Duration timeout) {
    var settings = watchers.settings();
    var last = timeout.minus(settings.bookmarkLead());
    if (last.isPositive()) {
      later(last, () -> opened.bookmark(watchers.dispatched()));
    }
    for (var at = settings.bookmarkPeriod(); at.compareTo(last) < 0; at = at
        .plus(settings.bookmarkPeriod())) {
      later(at, () -> opened.bookmark(watchers.dispatched()));
    }
  }

  private void close() {
    if (closed) {
      return;
    }
    closed = true;
    timers.forEach(Loop.Timer::cancel);
    timers.clear();
    var opened = watcher;
    if (opened == null) {
      outlet.end();
    } else {
      watchers.remove(opened);
    }
  }

  private void later(Duration delay, Runnable task) {
    timers.add(watchers.loop().schedule(delay, task));
  }
}
