package dev.activator.embedded.api.cache;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Those who wait until the cache is new enough, or until they have waited too long.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop: a revision cannot pass unseen between a look and a
 * wait.
 */
final class FreshnessWaiters {
  private final Loop loop;
  private final Duration timeout;
  private final TreeMap<Long, List<Waiter>> byRevision = new TreeMap<>();

  /** One of them: what to do when its time comes, either way. */
  private record Waiter(long revision, Runnable fresh, Loop.Timer timer) {}

  FreshnessWaiters(Loop loop, Duration timeout) {
    this.loop = loop;
    this.timeout = timeout;
  }

  /** Runs one of the two, later. */
  void add(long revision, Runnable fresh, Runnable late) {
    var holder = new Waiter[1];
    var timer = loop.schedule(timeout, () -> {
      remove(holder[0]);
      late.run();
    });
    holder[0] = new Waiter(revision, fresh, timer);
    byRevision.computeIfAbsent(revision, _ -> new ArrayList<>()).add(holder[0]);
  }

  /** The cache is this new now. */
  void reached(long revision) {
    while (!byRevision.isEmpty() && byRevision.firstKey() <= revision) {
      for (var waiter : byRevision.pollFirstEntry().getValue()) {
        waiter.timer().cancel();
        waiter.fresh().run();
      }
    }
  }

  int size() {
    return byRevision.values().stream().mapToInt(List::size).sum();
  }

  private void remove(Waiter waiter) {
    byRevision.computeIfPresent(waiter.revision(), (_, waiters) -> {
      waiters.remove(waiter);
      return waiters.isEmpty() ? null : waiters;
    });
  }
}
