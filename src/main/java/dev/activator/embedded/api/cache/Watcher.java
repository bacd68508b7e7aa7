package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.Signal.Bookmark;
import dev.activator.embedded.api.cache.Signal.Changed;
import dev.activator.embedded.api.cache.Signal.Position;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * One watch: first its backlog, then what happens, in order, each once, as fast as its outlet takes
 * it. What it cannot take yet waits in a bounded buffer.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop.
 */
final class Watcher {
  private enum State {
    OPEN, ENDS_AFTER_MARK, ENDED
  }

  private final WatchRequest request;
  private final Outlet outlet;
  private final Runnable forget;
  private final Backlog backlog;
  private final Queue<Changed> buffer = new ArrayDeque<>();
  private final int bufferSize;
  private State state = State.OPEN;
  private long told;
  private long covered;

  /**
   * How far a watch is when it begins.
   *
   * @param told the revision that the client has; 0 if it has none
   * @param covered the revision up to which the backlog says everything
   */
  record Progress(long told, long covered) {}

  /**
   * Where a watch ends.
   *
   * @param outlet at the client
   * @param forget at the server; called once, before the outlet hears of it
   */
  record Ends(Outlet outlet, Runnable forget) {}

  /**
   * Begins a watch.
   *
   * @param backlog what comes first
   * @param bufferSize how many events may wait
   */
  Watcher(WatchRequest request, Ends ends, Backlog backlog, Progress progress, int bufferSize) {
    this.request = request;
    this.outlet = ends.outlet();
    this.forget = ends.forget();
    this.backlog = backlog;
    this.told = progress.told();
    this.covered = progress.covered();
    this.bufferSize = bufferSize;
  }

  Selection selection() {
    return request.selection();
  }

  /** Takes the event, if it is one for this watcher. False if there is no room: ask again. */
  boolean offer(CacheEvent event) {
    if (state != State.OPEN || event.revision() <= covered) {
      return true;
    }
    var seen = selection().see(event);
    if (seen == null) {
      return true;
    }
    drain();
    if (state == State.OPEN && buffer.size() == bufferSize) {
      return false;
    }
    covered = event.revision();
    buffer.add(seen);
    drain();
    return true;
  }

  /** Sends what the outlet takes. */
  void drain() {
    while (state != State.ENDED && outlet.ready() && step()) {
      if (state == State.ENDS_AFTER_MARK && !backlog.markPending()) {
        end();
      }
    }
  }

  private boolean step() {
    var signal = backlog.next();
    if (backlog.lost()) {
      // The gap is not told: the client asks again from where it is, and then learns of it.
      end();
      return false;
    }
    if (signal == null) {
      signal = buffer.poll();
    }
    if (signal == null) {
      return false;
    }
    send(signal);
    return true;
  }

  private void send(Signal signal) {
    switch (signal) {
      case Changed(_, var object) -> told = Math.max(told, object.revision());
      case Bookmark(var revision, _) -> told = Math.max(told, revision);
      case Signal.Failed _ -> {
        // Says nothing about revisions.
      }
    }
    outlet.send(signal);
  }

  /** Tells how far it is, if that is further than it knows and nothing else waits. */
  void bookmark(long revision) {
    drain();
    boolean idle = state == State.OPEN && buffer.isEmpty() && outlet.ready();
    if (request.wantsBookmarks() && idle && revision > told) {
      send(new Bookmark(revision, Position.UNDER_WAY));
    }
  }

  /** Ends it for being too slow: at once, unless what it has yet to send lets the client resume. */
  void terminate() {
    if (state == State.OPEN && backlog.markPending()) {
      state = State.ENDS_AFTER_MARK;
      buffer.clear();
    } else {
      end();
    }
  }

  void end() {
    if (state != State.ENDED) {
      state = State.ENDED;
      buffer.clear();
      forget.run();
      outlet.end();
    }
  }
}
