package dev.activator.autoscaler.policy;

import dev.activator.revision.QueueTimes;

/**
 * One report on one revision.
 *
 * @param reporter the pod of the activator
 * @param concurrency requests it held at once, averaged over its last second; from 0 to {@link #MAX}
 * @param arrivals requests that reached it in that time; the same
 * @param queueTimes of requests that left its queue in that time, while pods were ready
 */
public record LoadSample(String reporter, double concurrency, double arrivals,
    QueueTimes queueTimes) {
  /** More than one activator can have. Of such a number and others a sum is exact, so that it can be taken off again. */
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
