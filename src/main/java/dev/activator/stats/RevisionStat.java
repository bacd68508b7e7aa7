package dev.activator.stats;

import dev.activator.revision.RevisionId;

/**
 * What the autoscaler is told of one revision.
 *
 * @param revision which one
 * @param averageConcurrency requests there were on average; not negative
 * @param requestCount requests that arrived, without those that were told at once
 */
public record RevisionStat(RevisionId revision, double averageConcurrency, double requestCount) {
  /** Told at once when an idle revision gets a request. */
  public static RevisionStat first(RevisionId revision) {
    return atOnce(revision, 1);
  }

  /**
   * Wakes a revision that is at zero, whether it is scaled by concurrency or by requests a second. One
   * request is enough for the latter, and does not count many twice that were reported before.
   *
   * @param inFlight requests there are, those that wait included
   */
  static RevisionStat atOnce(RevisionId revision, int inFlight) {
    return new RevisionStat(revision, inFlight, 1);
  }

  /** The report of a window, without what was told at once. */
  static RevisionStat of(RevisionId revision, RequestWindow.Totals totals) {
    int told = totals.toldAtOnce();
    return new RevisionStat(revision, Math.max(totals.averageConcurrency() - told, 0),
        totals.requests() - told);
  }
}
