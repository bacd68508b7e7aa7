package dev.activator.testing.faults;

import dev.activator.embedded.api.cache.CacheWatcher;
import dev.activator.embedded.api.cache.WatchMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Stands before a watch's outlet, and tells it something else.
 *
 * <p><b>Threads.</b> Belongs to the cache's loop.
 */
public final class FaultyOutlet implements CacheWatcher.Outlet {
  private static final Duration LINGERING = Duration.ofSeconds(1);

  private final CacheWatcher.Outlet outlet;
  private final FaultClock clock;
  private final UndoActions undoActions;
  private final List<EventMutation> mutations = new ArrayList<>();
  private final List<Armed> armed = new ArrayList<>();
  private volatile @Nullable CacheWatcher watch;
  private int sent;
  private int healed;
  private int takenAtMost = Integer.MAX_VALUE;
  private boolean begun;
  private boolean silent;
  private boolean ended;

  /** What is to happen once this many signals were sent. */
  private record Armed(int sent, Runnable action) {}

  public FaultyOutlet(CacheWatcher.Outlet outlet, FaultClock clock, UndoActions undoActions) {
    this.outlet = outlet;
    this.clock = clock;
    this.undoActions = undoActions;
  }

  /** Sees to it that this fault happens to a watch that may be on already. */
  public void strike(Fault.OnWatch fault) {
    healable();
    arm(fault);
    if (begun) {
      perform();
    }
  }

  /** Sees to it that this fault happens. */
  public void arm(Fault.OnWatch fault) {
    switch (fault) {
      case Fault.EndWatch(var when) -> at(when, this::finish);
      case Fault.FailWatch failure -> at(failure.when(), () -> fail(failure));
      case Fault.StopTaking(int events) -> stopTaking(events);
      case Fault.FrequentBookmarks(var period) ->
        bookmarks(new BookmarkMutation.LastSeen(), period);
      default -> mutations.add(EventMutation.of(fault));
    }
  }

  @Override
  public void begin(CacheWatcher opened) {
    watch = opened;
    if (silent) {
      return;
    }
    healable();
    outlet.begin(opened);
    begun = true;
    perform();
  }

  @Override
  public boolean ready() {
    // Always asked: that is when the outlet hands over what has gathered.
    return outlet.ready() && sent < takenAtMost;
  }

  @Override
  public void send(WatchMessage signal) {
    var signals = List.of(signal);
    for (var mutation : mutations) {
      signals = mutated(signals, mutation);
    }
    signals.forEach(this::pass);
  }

  private static List<WatchMessage> mutated(List<WatchMessage> signals, EventMutation mutation) {
    return signals.stream().flatMap(each -> mutation.tell(each).stream()).toList();
  }

  private void healable() {
    undoActions.add(() -> clock.loop().execute(this::heal));
  }

  /** Tells the truth from now on, beginning with what was held back. */
  private void heal() {
    healed++;
    armed.clear();
    var signals = new ArrayList<WatchMessage>();
    for (var mutation : mutations) {
      var changed = mutated(signals, mutation);
      signals = new ArrayList<>(changed);
      signals.addAll(mutation.rest());
    }
    mutations.clear();
    signals.forEach(this::pass);
  }

  @Override
  public void end() {
    if (!ended) {
      ended = true;
      silent = true;
      outlet.end();
    }
  }

  private void pass(WatchMessage signal) {
    if (!silent) {
      outlet.send(signal);
      sent++;
      perform();
    }
  }

  private void perform() {
    for (var each : List.copyOf(armed)) {
      if (each.sent() <= sent && armed.remove(each)) {
        each.action().run();
      }
    }
  }

  private void at(When when, Runnable action) {
    switch (when) {
      case When.Now _ -> armed.add(new Armed(sent, action));
      case When.AfterEvents(int events) -> armed.add(new Armed(sent + events, action));
      case When.AfterTime(var time) -> {
        int before = healed;
        clock.loop().schedule(time, () -> {
          if (healed == before) {
            action.run();
          }
        });
      }
      case When.AfterBytes _ -> When.checkForWatch(when);
    }
  }

  private void finish() {
    silent = true;
    end();
  }

  private void fail(Fault.FailWatch failure) {
    if (silent) {
      return;
    }
    outlet.send(new WatchMessage.Failed(failure.failure()));
    silent = true;
    switch (failure.ending()) {
      case AT_ONCE -> end();
      case LATER -> clock.loop().schedule(LINGERING, this::end);
      case NEVER -> {
        // The client is the one to close; that ends the watch, and this with it.
      }
    }
  }

  private void stopTaking(int events) {
    takenAtMost = sent + events;
    undoActions.add(() -> clock.loop().execute(() -> {
      takenAtMost = Integer.MAX_VALUE;
      var held = watch;
      if (held != null) {
        held.resume();
      }
    }));
  }

  private void bookmarks(BookmarkMutation.LastSeen last, Duration period) {
    mutations.add(last);
    clock.loop().schedule(period, () -> bookmark(last, period));
  }

  private void bookmark(BookmarkMutation.LastSeen last, Duration period) {
    if (!silent && mutations.contains(last)) {
      last.bookmark().ifPresent(this::pass);
      clock.loop().schedule(period, () -> bookmark(last, period));
    }
  }
}
