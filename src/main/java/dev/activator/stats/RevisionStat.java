package dev.activator.stats;

import dev.activator.revision.QueueTimeHistogram;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RequestStats;

/**
 * The statistics of one revision over one period.
 *
 * @param requestCount the requests that arrived in the period, minus those that were already
 *     reported through {@link StatSink#atOnce}
 * @param queueTimes for the requests that left the queue: how long each had waited in it, counting
 *     only the time when pods were ready
 * @param acknowledged the {@code IdleState#version} since which nothing is sent to its pods here; 0 if
 *     this is not about that
 */
public record RevisionStat(RevisionId revision, double averageConcurrency, double requestCount,
    QueueTimeHistogram queueTimes, long acknowledged) {
  /** A stat that acknowledges nothing. */
  public RevisionStat(RevisionId revision, double averageConcurrency, double requestCount,
      QueueTimeHistogram queueTimes) {
    this(revision, averageConcurrency, requestCount, queueTimes, 0);
  }

  /** That nothing is sent to the pods, and no request is in flight there. */
  public static RevisionStat acknowledgement(RevisionId revision, long version) {
    return new RevisionStat(revision, 0, 0, QueueTimeHistogram.NONE, version);
  }

  /** A stat without times in the queue. */
  public RevisionStat(RevisionId revision, double averageConcurrency, double requestCount) {
    this(revision, averageConcurrency, requestCount, QueueTimeHistogram.NONE);
  }

  public static RevisionStat first(RevisionId revision) {
    return atOnce(revision, 1);
  }

  /**
   * A stat that wakes a revision at zero, whether it scales by concurrency or by requests per
   * second. For the latter a count of 1 is enough, and hardly counts earlier requests twice.
   */
  static RevisionStat atOnce(RevisionId revision, int inFlight) {
    return new RevisionStat(revision, inFlight, 1);
  }

  RevisionStat with(QueueTimeHistogram times) {
    return new RevisionStat(revision, averageConcurrency, requestCount, times);
  }

  static RevisionStat of(RevisionId revision, RequestStats.Totals totals) {
    int reported = totals.reportedAtOnce();
    return new RevisionStat(revision, Math.max(totals.averageConcurrency() - reported, 0),
        totals.requests() - reported);
  }
}
