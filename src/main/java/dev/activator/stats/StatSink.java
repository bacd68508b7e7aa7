package dev.activator.stats;

import java.util.List;

/**
 * Sends reports to the autoscaler.
 *
 * <p>
 * <b>Threads.</b> Any thread may call; no call blocks.
 */
public interface StatSink {
  /** Outside of the periodic reports, see {@link RevisionStat#atOnce}; never empty. */
  void atOnce(List<RevisionStat> stats);

  /** One period's report, one stat for each revision; never empty. */
  void report(List<RevisionStat> stats);
}
