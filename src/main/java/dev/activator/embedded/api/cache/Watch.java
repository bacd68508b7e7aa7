package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.Signal.Bookmark;
import dev.activator.embedded.api.cache.Signal.Changed;
import dev.activator.embedded.api.cache.Signal.Position;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * One watch from the request to its end. It sends its backlog first, then what happens, in order,
 * each event once, as fast as its outlet takes them. What the outlet cannot take yet waits in a
 * bounded buffer. Once a watch has ended, nothing refers to it.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop, but for {@link #resume} and {@link #cancel}.
 */
public final class Watch {
  /** Clients report a watch that ends earlier than this as an error. */
  private static final Duration SHORTEST = Duration.ofSeconds(2);
  private static final Loop.Timer NO_TIMER = () -> {
  };

  private enum State {
    WAITING, OPEN, ENDS_AFTER_BOOKMARK, ENDED
  }

  private final Request request;
  private final Outlet outlet;
  private final Dispatcher dispatcher;
  private final Queue<Changed> buffer = new ArrayDeque<>();
  private State state = State.WAITING;
  private FreshnessWaiters.@Nullable Waiter waiter;
  private Backlog backlog = Backlog.NONE;
  private int bufferSize;
  /** The newest revision that was sent to the client; 0 for none. */
  private long clientRevision;
  /** The newest revision whose event is sent, buffered or part of the backlog. */
  private long coveredRevision;
  private Loop.Timer end = NO_TIMER;
  private Loop.Timer nextBookmark = NO_TIMER;

  /**
   * What a client asks for.
   *
   * @param start where the watch begins
   * @param selection what it sees
   * @param bookmarks whether it is clientRevision how far it is when there is nothing to see
   * @param timeout after which it ends
   */
  public record Request(WatchStart start, Selection selection, Bookmarks bookmarks,
      Duration timeout) {
    /** Whether a client understands bookmarks. */
    public enum Bookmarks {
      WANTED, UNWANTED
    }

    boolean wantsBookmarks() {
      return bookmarks == Bookmarks.WANTED;
    }
  }

  /**
   * Where a watch's signals go: a connection.
   *
   * <p>
   * <b>Threads.</b> Called on the cache's loop alone, and never calls back inside a call. When it
   * can take more again, it calls {@link Watch#resume}.
   */
  public interface Outlet {
    /** The watch has begun: it misses nothing from now on. Called once, first. */
    void begin(Watch watch);

    /** Whether it can take one more signal now. */
    boolean ready();

    void send(Signal signal);

    /** Nothing follows. Called once. */
    void end();
  }

  Watch(Request request, Outlet outlet, Dispatcher dispatcher) {
    this.request = request;
    this.outlet = outlet;
    this.dispatcher = dispatcher;
  }

  /** The outlet can take more. Any thread may call. */
  public void resume() {
    dispatcher.loop().execute(() -> {
      if (state != State.WAITING) {
        drain();
        dispatcher.resumed();
      }
    });
  }

  /** The client is gone: nothing more is sent. Any thread may call. */
  public void cancel() {
    dispatcher.loop().execute(this::close);
  }

  Request request() {
    return request;
  }

  Selection selection() {
    return request.selection();
  }

  boolean ended() {
    return state == State.ENDED;
  }

  void begin() {
    outlet.begin(this);
  }

  /** Remembers the waiter, to cancel it if the watch ends first. */
  void waitsAs(FreshnessWaiters.@Nullable Waiter waiting) {
    waiter = waiting;
  }

  /**
   * Begins to send.
   *
   * @param first the backlog, which has everything up to {@code upTo}
   * @param known the revision that the client has; 0 if it has none
   * @param window how many events the cache's window has room for
   */
  void open(Backlog first, long known, long upTo, int window) {
    waiter = null;
    state = State.OPEN;
    backlog = first;
    clientRevision = known;
    coveredRevision = upTo;
    bufferSize = dispatcher.bufferSize(selection(), window);
    dispatcher.add(this);
    var timeout = request.timeout().compareTo(SHORTEST) < 0 ? SHORTEST : request.timeout();
    end = dispatcher.loop().schedule(timeout, this::expire);
    if (request.wantsBookmarks()) {
      scheduleBookmark(Duration.ZERO, timeout.minus(dispatcher.settings().bookmarkLead()));
    }
    drain();
  }

  /** Buffers or sends the event if it matches. False if the buffer is full: offer it again. */
  boolean offer(CacheEvent event) {
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

  /** Sends what the outlet takes. */
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
      // No error: the client resumes from its last revision, and gets the 410 then.
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
      case Changed(_, var object) -> clientRevision = Math.max(clientRevision, object.revision());
      case Bookmark(var revision, _) -> clientRevision = Math.max(clientRevision, revision);
      case Signal.Failed _ -> {
        // Says nothing about revisions.
      }
    }
    outlet.send(signal);
  }

  /** Sends a bookmark, if the cache is ahead of the client and nothing else waits. */
  private void bookmark() {
    drain();
    boolean idle = state == State.OPEN && buffer.isEmpty() && outlet.ready();
    if (request.wantsBookmarks() && idle && dispatcher.revision() > clientRevision) {
      send(new Bookmark(dispatcher.revision(), Position.UNDER_WAY));
    }
  }

  /** Each bookmark schedules the next, so that a watch of an hour has one timer, not sixty. */
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

  /** A last bookmark lets the client resume from here. */
  private void expire() {
    bookmark();
    close();
  }

  /** Sends the failure, and ends a little later, so that it arrives first. */
  void fail(StatusException failure) {
    waiter = null;
    outlet.send(new Signal.Failed(failure));
    end = dispatcher.loop().schedule(dispatcher.settings().closeDelay(), this::close);
  }

  /** Ends a slow watch: at once, or after the bookmark from which the client can resume. */
  void terminate() {
    if (state == State.OPEN && backlog.bookmarkPending()) {
      state = State.ENDS_AFTER_BOOKMARK;
      buffer.clear();
    } else {
      end();
    }
  }

  /** Ends the watch; events that waited for its buffer go on to the others. */
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
