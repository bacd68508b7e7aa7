package dev.activator.console;

import dev.activator.revision.RevisionId;
import dev.activator.throttle.ThrottleView;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Why requests wait, for their callers: read once a second while a revision has no capacity, so
 * that a response need not read its loop.
 *
 * <p><b>Threads.</b> Any.
 */
public final class WaitReasons {
  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final Map<RevisionId, String> last = new ConcurrentHashMap<>();
  private final Inspector inspector;
  private final Throttler throttler;

  public WaitReasons(Inspector inspector, Throttler throttler) {
    this.inspector = inspector;
    this.throttler = throttler;
  }

  /** Requests of this revision are queued, and none can run. */
  public void starved(RevisionId id) {
    inspector.snapshot(id).thenAccept(now -> {
      if (now == null) {
        last.remove(id);
      } else {
        last.put(id, Diagnosis.of(now).forCallers());
        if (throttler.view(id) == null) {
          // Deleted since the snapshot.
          last.remove(id);
        }
      }
    });
  }

  public void gone(RevisionId id) {
    last.remove(id);
  }

  /** A sentence without its end, and without an address; empty if nothing is known. */
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
      return known.isEmpty() ? Diagnosis.cannotStart(start.failure()) : known;
    }
    var requested = start == null ? null : start.requested();
    // In the first second the last words are those of an earlier start.
    return requested == null || requested.compareTo(PERIOD) < 0 ? "" : last.getOrDefault(id, "");
  }

  private static String busy(ThrottleView view) {
    return view.inFlight() < view.capacity()
        ? ""
        : Diagnosis.inUse(view.capacity());
  }
}
