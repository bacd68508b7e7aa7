package dev.activator.stats;

import java.util.List;

/**
 * Takes what the autoscaler is to be told.
 *
 * <p>
 * <b>Threads.</b> Any thread may call, on the request path too: no call blocks.
 */
public interface StatSink {
  /** Outside of the periodic reports, see {@link RevisionStat#atOnce}; never empty. */
  void atOnce(List<RevisionStat> stats);

  /** The report of one period, one stat for each revision; never empty. */
  void report(List<RevisionStat> stats);
}
