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
  /** Told at once when an idle revision gets a request: it wakes one that is at zero. */
  public static RevisionStat first(RevisionId revision) {
    return new RevisionStat(revision, 1, 1);
  }

  /** The report of a window, without what was told at once. */
  static RevisionStat of(RevisionId revision, RequestWindow.Totals totals) {
    int told = totals.toldAtOnce();
    return new RevisionStat(revision, Math.max(totals.averageConcurrency() - told, 0),
        totals.requests() - told);
  }
}
