package dev.activator.backend;

import dev.activator.revision.RevisionId;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which first probes of addresses may be sent: only so many may be under way at once, as each has a
 * connection. A revision that has none under way is served before all others, so that black holes
 * of one revision, or of a whole node, keep no other from its first answer.
 *
 * <p>
 * <b>Threads.</b> One.
 *
 * @param <T> what waits
 */
final class FirstProbes<T> {
  /** All of them, as long as each revision has one at most. */
  static final int MOST = 2_000;
  /** All of them, for a revision that has one already. */
  static final int MOST_FURTHER = 1_000;
  static final int MOST_OF_A_REVISION = 100;

  private final FairQueue<T> only = new FairQueue<>();
  private final FairQueue<T> further = new FairQueue<>();
  private final Map<RevisionId, Integer> underWay = new HashMap<>();
  private int all;

  void add(RevisionId revision, T one) {
    boolean isOnly = !underWay.containsKey(revision) && !only.has(revision);
    (isOnly ? only : further).add(revision, one);
  }

  /** The next that may be sent, which from now on is under way; null if none may. */
  @Nullable T next() {
    var next = all < MOST ? only.take(_ -> true) : null;
    if (next == null && all < MOST_FURTHER) {
      next = further.take(id -> underWay.getOrDefault(id, 0) < MOST_OF_A_REVISION);
    }
    if (next == null) {
      return null;
    }
    all++;
    underWay.merge(next.revision(), 1, Integer::sum);
    return next.one();
  }

  void ended(RevisionId revision) {
    all--;
    underWay.computeIfPresent(revision, (_, count) -> count == 1 ? null : count - 1);
  }

  void clear() {
    only.clear();
    further.clear();
  }
}
