package dev.activator.standalone.autoscaler.policy;

import dev.activator.revision.QueueTimeHistogram;

/**
 * One activator's report on one revision, for one second.
 *
 * @param reporter the activator's pod
 * @param concurrency requests in flight or queued, averaged over the last second; from 0 to
 *     {@link #MAX}
 * @param arrivals requests that arrived in that second; from 0 to {@link #MAX}
 * @param queueTimes the queue times of requests that left the queue in that second while pods were
 *     ready
 */
public record LoadSample(String reporter, double concurrency, double arrivals,
    QueueTimeHistogram queueTimes) {
  /**
   * The limit of both numbers, which is more than one activator can have. Sums of such numbers are
   * exact, so that each can be subtracted again.
   */
  static final double MAX = 1e8;

  public LoadSample {
    check(reporter, "concurrency", concurrency);
    check(reporter, "number of requests", arrivals);
  }

  private static void check(String reporter, String what, double value) {
    if (!(value >= 0 && value <= MAX)) {
      throw new IllegalArgumentException(
          "the " + what + " that " + reporter + " reports is not a number of requests: " + value);
    }
  }

  /** Whether a request waited, ran or arrived. */
  public boolean isDemand() {
    return concurrency > 0 || arrivals > 0;
  }
}
