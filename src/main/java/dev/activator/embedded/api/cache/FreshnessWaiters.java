package dev.activator.embedded.api.cache;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.TreeMap;

/** The reads and watches that wait until the cache reaches a revision, or until a timeout. */
final class FreshnessWaiters {
  private final Loop loop;
  private final Duration timeout;
  private final TreeMap<Long, Set<Waiter>> byRevision = new TreeMap<>();

  FreshnessWaiters(Loop loop, Duration timeout) {
    this.loop = loop;
    this.timeout = timeout;
  }

  Waiter add(long revision, Runnable fresh, Runnable late) {
    var waiter = new Waiter(revision, fresh, late);
    byRevision.computeIfAbsent(revision, _ -> new LinkedHashSet<>()).add(waiter);
    return waiter;
  }

  void reached(long revision) {
    while (!byRevision.isEmpty() && byRevision.firstKey() <= revision) {
      for (var waiter : byRevision.pollFirstEntry().getValue()) {
        waiter.timer.cancel();
        waiter.fresh.run();
      }
    }
  }

  int size() {
    return byRevision.values().stream().mapToInt(Set::size).sum();
  }

  final class Waiter {
    private final long revision;
    private final Runnable fresh;
    private final Loop.Timer timer;

    private Waiter(long revision, Runnable fresh, Runnable late) {
      this.revision = revision;
      this.fresh = fresh;
      this.timer = loop.schedule(timeout, () -> {
        leave();
        late.run();
      });
    }

    /** Stops waiting. Idempotent. */
    void leave() {
      timer.cancel();
      byRevision.computeIfPresent(revision, (_, waiters) -> {
        waiters.remove(this);
        return waiters.isEmpty() ? null : waiters;
      });
    }
  }
}
