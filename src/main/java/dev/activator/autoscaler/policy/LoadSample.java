package dev.activator.autoscaler.policy;

import dev.activator.revision.QueueTimeHistogram;

/**
 * One report on one revision.
 *
 * @param reporter the pod of the activator
 * @param concurrency requests it held at once, averaged over its last second; from 0 to {@link
 *     #MAX}
 * @param arrivals requests that reached it in that time; from 0 to {@link #MAX}
 * @param queueTimes of requests that left its queue in that time, while pods were ready
 */
public record LoadSample(String reporter, double concurrency, double arrivals,
    QueueTimeHistogram queueTimes) {
  /**
   * The limit of both numbers, more than one activator can have. Sums with such numbers are exact,
   * so that they can be subtracted again.
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
