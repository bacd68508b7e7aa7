package dev.activator.ext.console;

import dev.activator.proxy.exchange.Seams.WaitReasons;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.throttle.ThrottleView;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A cache of the reasons why requests wait, for their callers. While a revision has no capacity,
 * its reason is read once a second, so that a response need not wait for the revision's loop. If
 * many revisions have no capacity, each is read less often.
 *
 * <p><b>Threads.</b> Any.
 */
final class WaitReasonCache implements WaitReasons {
  private static final Duration PERIOD = Duration.ofSeconds(1);

  /** The pause between two reads. Each read covers several revisions. */
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final int MAX_AT_ONCE = 20;

  private final LiveRevisions revisions;
  private final Slot<AtomicReference<String>> slot;
  private final RevisionInspector inspector;
  private final Throttler throttler;
  private final Loop loop;
  /** The revisions to read next, in order. Only the loop uses this. */
  private final Set<RevisionId> starved = new LinkedHashSet<>();
  private final ResettableTimer timer;

  /** @param loop runs the timer of the reads */
  WaitReasonCache(LiveRevisions revisions, RevisionInspector inspector,
      Throttler throttler, Loop loop) {
    this.revisions = revisions;
    this.slot = revisions.declare("wait reason", _ -> new AtomicReference<>(""));
    this.inspector = inspector;
    this.throttler = throttler;
    this.loop = loop;
    this.timer = new ResettableTimer(loop, this::read);
  }

  /** Call while requests of this revision are queued and none can run. */
  void onStarved(RevisionId id) {
    loop.execute(() -> {
      starved.add(id);
      timer.within(PAUSE);
    });
  }

  private void read() {
    var next = starved.stream().limit(MAX_AT_ONCE).toList();
    next.forEach(starved::remove);
    if (!starved.isEmpty()) {
      timer.within(PAUSE);
    }
    inspector.snapshots(next).thenAccept(all -> {
      var unknown = new HashSet<>(next);
      for (var now : all) {
        unknown.remove(now.revision());
        put(now.revision(), CallerReason.of(now));
      }
      unknown.forEach(id -> put(id, ""));
    });
  }

  private void put(RevisionId id, String reason) {
    var last = revisions.slot(id, slot);
    if (last != null) {
      last.set(reason);
    }
  }

  private String last(RevisionId id) {
    var last = revisions.peek(id, slot);
    return last == null ? "" : last.get();
  }

  @Override
  public String of(RevisionId id) {
    var view = throttler.view(id);
    if (view == null) {
      return "";
    }
    return view.capacity() == 0 ? starting(id) : busy(view);
  }

  private String starting(RevisionId id) {
    var start = throttler.start(id);
    if (start != null && start.failure() != null) {
      var known = start.failure().isOverdue() ? last(id) : "";
      return known.isEmpty() ? WaitDiagnosis.cannotStart(start.failure()) : known;
    }
    var requested = start == null ? null : start.requested();
    // In the first second, the cached reason is that of an earlier start.
    return requested == null || requested.compareTo(PERIOD) < 0 ? "" : last(id);
  }

  private static String busy(ThrottleView view) {
    return view.inFlight() < view.capacity()
        ? ""
        : WaitDiagnosis.inUse(view.capacity());
  }
}
