package dev.activator.console;

import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.ThrottleView;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A cache of the reasons why requests wait, for their callers. While a revision has no capacity,
 * its reason is read once a second, so that a response need not wait for the revision's loop. If
 * many revisions have no capacity, each is read less often.
 *
 * <p><b>Threads.</b> Any.
 */
public final class WaitReasonCache {
  private static final Duration PERIOD = Duration.ofSeconds(1);

  /** The pause between two reads. Each read covers several revisions. */
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final int MAX_AT_ONCE = 20;

  private final Map<RevisionId, String> last = new ConcurrentHashMap<>();
  private final RevisionInspector inspector;
  private final Throttler throttler;
  private final Loop loop;
  /** The revisions to read next, in order. Only the loop uses this. */
  private final Set<RevisionId> starved = new LinkedHashSet<>();
  private final ResettableTimer timer;

  /** @param loop runs the timer of the reads */
  public WaitReasonCache(RevisionInspector inspector, Throttler throttler, Loop loop) {
    this.inspector = inspector;
    this.throttler = throttler;
    this.loop = loop;
    this.timer = new ResettableTimer(loop, this::read);
  }

  /** Call while requests of this revision are queued and none can run. */
  public void starved(RevisionId id) {
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
        last.put(now.revision(), WaitDiagnosis.forCallers(now));
        if (throttler.view(now.revision()) == null) {
          // The revision was deleted after the snapshot.
          last.remove(now.revision());
        }
      }
      last.keySet().removeAll(unknown);
    });
  }

  public void gone(RevisionId id) {
    last.remove(id);
  }

  /** The reason as a sentence without a full stop and without addresses; empty if unknown. */
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
      var known = start.failure().isOverdue() ? last.getOrDefault(id, "") : "";
      return known.isEmpty() ? WaitDiagnosis.cannotStart(start.failure()) : known;
    }
    var requested = start == null ? null : start.requested();
    // In the first second, the cached reason is that of an earlier start.
    return requested == null || requested.compareTo(PERIOD) < 0 ? "" : last.getOrDefault(id, "");
  }

  private static String busy(ThrottleView view) {
    return view.inFlight() < view.capacity()
        ? ""
        : WaitDiagnosis.inUse(view.capacity());
  }
}
