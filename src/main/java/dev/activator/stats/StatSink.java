package dev.activator.stats;

import java.util.List;

/**
 * Takes what the autoscaler is to be told.
 *
 * <p>
 * <b>Threads.</b> Any thread may call, on the request path too: no call blocks.
 */
public interface StatSink {
  /** An idle revision got a request; see {@link RevisionStat#first}. */
  void firstRequest(RevisionStat stat);

  /** The report of one period, one stat for each revision; never empty. */
  void report(List<RevisionStat> stats);
}
