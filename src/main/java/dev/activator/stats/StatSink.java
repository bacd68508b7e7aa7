package dev.activator.stats;

import dev.activator.stats.policy.RevisionStat;
import java.util.List;

/**
 * Takes what there is to tell.
 *
 * <p>
 * <b>Threads.</b> Any thread may call, on the request path too: no call waits.
 */
public interface StatSink {
  /** An idle revision got a request; see {@link RevisionStat#first}. */
  void firstRequest(RevisionStat stat);

  /** The report of one period, a line a revision; never empty. */
  void report(List<RevisionStat> stats);
}
