package dev.activator.autoscaler.policy;

/**
 * One report on one revision.
 *
 * @param reporter the pod of the activator
 * @param concurrency requests it held at once, averaged over its last second; finite, not negative
 * @param arrivals requests that reached it in that time
 */
public record Sample(String reporter, double concurrency, double arrivals) {
  public Sample {
    if (!Double.isFinite(concurrency) || concurrency < 0) {
      throw new IllegalArgumentException(
          "the concurrency that " + reporter + " reports is not a number of requests: "
              + concurrency);
    }
  }

  /** Whether it could be what a reporter sends at once for the first request of a revision. */
  boolean looksLikeFirstRequest() {
    return concurrency == 1 && arrivals == 1;
  }
}
