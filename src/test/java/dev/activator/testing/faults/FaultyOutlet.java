package dev.activator.testing.faults;

import dev.activator.embedded.api.cache.Watch;
import dev.activator.embedded.api.cache.Signal;
import dev.activator.embedded.api.cache.Watch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Stands before a watch's outlet, and tells it something else.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop.
 */
public final class FaultyOutlet implements Watch.Outlet {
  private static final Duration LINGERING = Duration.ofSeconds(1);

  private final Watch.Outlet outlet;
  private final Pace pace;
  private final Remedies remedies;
  private final List<Twist> twists = new ArrayList<>();
  private final List<Armed> armed = new ArrayList<>();
  private volatile @Nullable Watch watch;
  private int sent;
  private int healed;
  private int takenAtMost = Integer.MAX_VALUE;
  private boolean begun;
  private boolean silent;
  private boolean ended;

  /** What is to happen once so many signals were sent. */
  private record Armed(int sent, Runnable action) {}

  public FaultyOutlet(Watch.Outlet outlet, Pace pace, Remedies remedies) {
    this.outlet = outlet;
    this.pace = pace;
    this.remedies = remedies;
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
      case Fault.FrequentBookmarks(var period) -> bookmarks(new BookmarkTwist.LastSeen(), period);
      default -> twists.add(Twist.of(fault));
    }
  }

  @Override
  public void begin(Watch opened) {
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
  public void send(Signal signal) {
    var signals = List.of(signal);
    for (var twist : twists) {
      signals = twisted(signals, twist);
    }
    signals.forEach(this::pass);
  }

  private static List<Signal> twisted(List<Signal> signals, Twist twist) {
    return signals.stream().flatMap(each -> twist.tell(each).stream()).toList();
  }

  private void healable() {
    remedies.add(() -> pace.loop().execute(this::heal));
  }

  /** Tells the truth from now on, beginning with what was held back. */
  private void heal() {
    healed++;
    armed.clear();
    var signals = new ArrayList<Signal>();
    for (var twist : twists) {
      var changed = twisted(signals, twist);
      signals = new ArrayList<>(changed);
      signals.addAll(twist.rest());
    }
    twists.clear();
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

  private void pass(Signal signal) {
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
        pace.loop().schedule(time, () -> {
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
    outlet.send(new Signal.Failed(failure.failure()));
    silent = true;
    switch (failure.ending()) {
      case AT_ONCE -> end();
      case LATER -> pace.loop().schedule(LINGERING, this::end);
      case NEVER -> {
        // The client is the one to close; that ends the watch, and this with it.
      }
    }
  }

  private void stopTaking(int events) {
    takenAtMost = sent + events;
    remedies.add(() -> pace.loop().execute(() -> {
      takenAtMost = Integer.MAX_VALUE;
      var held = watch;
      if (held != null) {
        held.resume();
      }
    }));
  }

  private void bookmarks(BookmarkTwist.LastSeen last, Duration period) {
    twists.add(last);
    pace.loop().schedule(period, () -> bookmark(last, period));
  }

  private void bookmark(BookmarkTwist.LastSeen last, Duration period) {
    if (!silent && twists.contains(last)) {
      last.bookmark().ifPresent(this::pass);
      pace.loop().schedule(period, () -> bookmark(last, period));
    }
  }
}
