package dev.activator.ext.affinity;

import dev.activator.ext.affinity.policy.AffinityKey;
import dev.activator.loop.Loop;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Counts the requests of one key as one for the autoscaler, because a key needs one pod, however many
 * requests it has.
 *
 * <p><b>Threads.</b> Any.
 */
final class KeyCounts {
  /**
   * A key with requests.
   *
   * @param count of the loop on which its first request arrived
   */
  private record Counted(RevisionCount count, Loop loop, int requests) {
    Counted with(int more) {
      return new Counted(count, loop, requests + more);
    }
  }

  private final ConcurrentMap<AffinityKey, Counted> counted = new ConcurrentHashMap<>();

  /** The number of keys that have requests. */
  int keys() {
    return counted.size();
  }

  /** @param each counts requests of the loop one by one */
  RevisionCount of(AffinityKey key, RevisionCount each, Loop loop) {
    return new RevisionCount() {
      @Override
      public void arrived() {
        counted.compute(key, (_, before) -> {
          if (before != null) {
            return before.with(1);
          }
          each.arrived();
          return new Counted(each, loop, 1);
        });
      }

      @Override
      public void left() {
        counted.computeIfPresent(key, (_, before) -> {
          if (before.requests > 1) {
            return before.with(-1);
          }
          if (before.loop == loop) {
            before.count.left();
          } else {
            before.loop.execute(before.count::left);
          }
          return null;
        });
      }
    };
  }
}
