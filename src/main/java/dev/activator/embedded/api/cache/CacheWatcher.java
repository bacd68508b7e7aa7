package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.WatchMessage.Bookmark;
import dev.activator.embedded.api.cache.WatchMessage.Changed;
import dev.activator.embedded.api.cache.WatchMessage.Position;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * One watch of a client on a watch cache. It sends its backlog first, then each event once, in
 * order. A bounded buffer holds what the outlet cannot take yet.
 *
 * <p><b>Threads.</b> The cache's loop, except {@link #resume} and {@link #cancel}.
 */
public final class CacheWatcher {
  /** Clients report a watch that ends earlier as an error. */
  private static final Duration MIN_TIMEOUT = Duration.ofSeconds(2);
  private static final Loop.Timer NO_TIMER = () -> {
  };

  private enum State {
    WAITING,
    OPEN,
    ENDS_AFTER_BOOKMARK,
    ENDED
  }

  private final Request request;
  private final Outlet outlet;
  private final WatchDispatcher dispatcher;
  private final Queue<Changed> buffer = new ArrayDeque<>();
  private State state = State.WAITING;
  private FreshnessWaiters.@Nullable Waiter waiter;
  private InitialWatchEvents backlog = InitialWatchEvents.NONE;
  private int bufferSize;
  /** The newest revision that was sent; 0 for none. */
  private long clientRevision;
  /** The newest revision whose event is sent, buffered or part of the backlog. */
  private long coveredRevision;
  private Loop.Timer end = NO_TIMER;
  private Loop.Timer nextBookmark = NO_TIMER;

  public record Request(WatchStart start, ObjectSelection selection, Bookmarks bookmarks,
      Duration timeout) {
    public enum Bookmarks {
      WANTED,
      UNWANTED
    }

    boolean wantsBookmarks() {
      return bookmarks == Bookmarks.WANTED;
    }
  }

  /**
   * A connection.
   *
   * <p><b>Threads.</b> Called on the cache's loop, and never calls back inside a call. It calls {@link
   * Watch#resume} when it can take more.
   */
  public interface Outlet {
    /** Called first: the watch misses nothing from now on. */
    void begin(CacheWatcher watch);

    boolean ready();

    void send(WatchMessage signal);

    void end();
  }

  CacheWatcher(Request request, Outlet outlet, WatchDispatcher dispatcher) {
    this.request = request;
    this.outlet = outlet;
    this.dispatcher = dispatcher;
  }

  public void resume() {
    dispatcher.loop().execute(() -> {
      if (state != State.WAITING) {
        drain();
        dispatcher.resumed();
      }
    });
  }

  public void cancel() {
    dispatcher.loop().execute(this::close);
  }

  Request request() {
    return request;
  }

  ObjectSelection selection() {
    return request.selection();
  }

  boolean ended() {
    return state == State.ENDED;
  }

  void begin() {
    outlet.begin(this);
  }

  void waitsAs(FreshnessWaiters.@Nullable Waiter waiting) {
    waiter = waiting;
  }

  /**
   * @param first the backlog, up to {@code upTo}
   * @param known the client's revision; 0 if none
   * @param window the capacity of the cache's window
   */
  void open(InitialWatchEvents first, long known, long upTo, int window) {
    waiter = null;
    state = State.OPEN;
    backlog = first;
    clientRevision = known;
    coveredRevision = upTo;
    bufferSize = dispatcher.bufferSize(selection(), window);
    dispatcher.add(this);
    var timeout = request.timeout().compareTo(MIN_TIMEOUT) < 0 ? MIN_TIMEOUT : request.timeout();
    end = dispatcher.loop().schedule(timeout, this::expire);
    if (request.wantsBookmarks()) {
      scheduleBookmark(Duration.ZERO, timeout.minus(dispatcher.settings().bookmarkLead()));
    }
    drain();
  }

  /** False if the buffer is full: offer the event again. */
  boolean offer(WatchCacheEvent event) {
    if (state != State.OPEN || event.revision() <= coveredRevision) {
      return true;
    }
    var seen = selection().signalFor(event);
    if (seen == null) {
      return true;
    }
    drain();
    if (state == State.OPEN && buffer.size() == bufferSize) {
      return false;
    }
    coveredRevision = event.revision();
    buffer.add(seen);
    drain();
    return true;
  }

  private void drain() {
    while (state != State.ENDED && outlet.ready() && step()) {
      if (state == State.ENDS_AFTER_BOOKMARK && !backlog.bookmarkPending()) {
        end();
      }
    }
  }

  private boolean step() {
    var signal = backlog.next();
    if (backlog.lost()) {
      // No error: the client resumes from its last revision, and then gets the 410.
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

  private void send(WatchMessage signal) {
    switch (signal) {
      case Changed(_, var object) -> clientRevision = Math.max(clientRevision, object.revision());
      case Bookmark(var revision, _) -> clientRevision = Math.max(clientRevision, revision);
      case WatchMessage.Failed _ -> {
        // Has no revision.
      }
    }
    outlet.send(signal);
  }

  private void bookmark() {
    drain();
    boolean idle = state == State.OPEN && buffer.isEmpty() && outlet.ready();
    if (request.wantsBookmarks() && idle && dispatcher.revision() > clientRevision) {
      send(new Bookmark(dispatcher.revision(), Position.UNDER_WAY));
    }
  }

  /** Each bookmark schedules the next: one timer per watch. */
  private void scheduleBookmark(Duration age, Duration last) {
    var usual = age.plus(dispatcher.settings().bookmarkPeriod());
    var next = usual.compareTo(last) < 0 ? usual : last;
    if (next.compareTo(age) > 0) {
      nextBookmark = dispatcher.loop().schedule(next.minus(age), () -> {
        bookmark();
        if (state != State.ENDED) {
          scheduleBookmark(next, last);
        }
      });
    }
  }

  private void expire() {
    bookmark();
    close();
  }

  /** Sends a failure, and ends a little later, so that the failure arrives first. */
  void fail(StatusException failure) {
    waiter = null;
    outlet.send(new WatchMessage.Failed(failure));
    end = dispatcher.loop().schedule(dispatcher.settings().closeDelay(), this::close);
  }

  /** Ends the watch, after a pending initial bookmark, from which the client can resume. */
  void terminate() {
    if (state == State.OPEN && backlog.bookmarkPending()) {
      state = State.ENDS_AFTER_BOOKMARK;
      buffer.clear();
    } else {
      end();
    }
  }

  /** Ends the watch, so that others no longer wait for its buffer. */
  void close() {
    end();
    dispatcher.resumed();
  }

  void end() {
    if (state == State.ENDED) {
      return;
    }
    state = State.ENDED;
    buffer.clear();
    end.cancel();
    nextBookmark.cancel();
    if (waiter != null) {
      waiter.leave();
      waiter = null;
    }
    dispatcher.remove(this);
    outlet.end();
  }
}
