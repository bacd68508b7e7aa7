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
 * One client's watch on a watch cache. It first sends its backlog, and then each event once, in
 * order. Events that the client connection (the outlet) cannot take yet are kept in a bounded
 * buffer.
 *
 * <p><b>Threads.</b> The cache's loop, except {@link #resume} and {@link #cancel}.
 */
public final class CacheWatcher {
  /** The minimum time of a watch. Clients report one that ends earlier as an error. */
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
  /** The newest revision whose event was sent or buffered, or is part of the backlog. */
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
   * The connection to the client.
   *
   * <p><b>Threads.</b> Called on the cache's loop. It must not call back inside a call. It calls
   * {@link CacheWatcher#resume} when it can take more.
   */
  public interface Outlet {
    /** The watch has begun. From now on it misses no event. Called first. */
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
   * @param first the backlog, up to the revision {@code upTo}
   * @param known the newest revision that the client has; 0 if it has none
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
    var timeout = timeout();
    end = dispatcher.loop().schedule(timeout, this::expire);
    if (request.wantsBookmarks()) {
      scheduleBookmark(Duration.ZERO, timeout.minus(dispatcher.settings().bookmarkLead()));
    }
    drain();
  }

  private Duration timeout() {
    if (request.timeout().isNegative()) {
      // Long enough for the backlog, after which such a watch ends.
      return dispatcher.settings().closeDelay();
    }
    return request.timeout().compareTo(MIN_TIMEOUT) < 0 ? MIN_TIMEOUT : request.timeout();
  }

  /** Takes an event. Returns false if the buffer is full; the event must then be offered again. */
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
      // The watch ends without an error. The client resumes from its last revision, and then gets
      // the 410.
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
        // A failure has no revision.
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

  /** Schedules a bookmark. Each one schedules the next, so a watch has one timer. */
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

  /** Sends a failure, and ends the watch a little later, so that the failure arrives first. */
  void fail(StatusException failure) {
    waiter = null;
    outlet.send(new WatchMessage.Failed(failure));
    end = dispatcher.loop().schedule(dispatcher.settings().closeDelay(), this::close);
  }

  /**
   * Ends the watch. If the initial bookmark is pending, it is sent before, so that the client can
   * resume from it.
   */
  void terminate() {
    if (state == State.OPEN && backlog.bookmarkPending()) {
      state = State.ENDS_AFTER_BOOKMARK;
      buffer.clear();
    } else {
      end();
    }
  }

  /** Ends the watch. Other watches no longer wait for its buffer. */
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
