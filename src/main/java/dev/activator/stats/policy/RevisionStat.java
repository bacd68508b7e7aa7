package dev.activator.stats.policy;

import dev.activator.revision.RevisionId;

/**
 * What the autoscaler is told of one revision.
 *
 * @param revision which
 * @param averageConcurrency requests there were on average; not negative
 * @param requestCount requests that arrived, those told at once left out
 */
public record RevisionStat(RevisionId revision, double averageConcurrency, double requestCount) {

  /** Told at once when an idle revision gets a request: it is what wakes one that is at zero. */
  public static RevisionStat first(RevisionId revision) {
    return new RevisionStat(revision, 1, 1);
  }

  /**
   * What a window came to, less what was told at once.
   *
   * @param toldAtOnce messages of the kind {@link #first} sent in this window
   */
  public static RevisionStat of(RevisionId revision, WindowTotals totals, int toldAtOnce) {
    return new RevisionStat(revision, Math.max(totals.averageConcurrency() - toldAtOnce, 0),
        totals.requests() - toldAtOnce);
  }
}
