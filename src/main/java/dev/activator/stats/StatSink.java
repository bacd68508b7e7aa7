package dev.activator.stats;

import java.util.List;

/**
 * A receiver of statistics, such as the link to the autoscaler.
 *
 * <p><b>Threads.</b> Any thread may call; never blocks.
 */
public interface StatSink {
  /** Reports outside of the periodic reports (see {@link RevisionStat#atOnce}). */
  void atOnce(List<RevisionStat> stats);

  /** Reports a period, with one stat for each revision; may be empty. */
  void report(List<RevisionStat> stats);
}
