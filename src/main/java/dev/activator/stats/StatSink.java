package dev.activator.stats;

import java.util.List;

/**
 * A receiver of statistics, such as the link to the autoscaler.
 *
 * <p><b>Threads.</b> Any thread may call; never blocks.
 */
public interface StatSink {
  /** Outside of the periodic reports, see {@link RevisionStat#atOnce}; never empty. */
  void atOnce(List<RevisionStat> stats);

  /** Of one period, with one stat for each revision; may be empty. */
  void report(List<RevisionStat> stats);
}
