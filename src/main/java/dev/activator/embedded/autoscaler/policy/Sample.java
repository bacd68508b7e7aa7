package dev.activator.embedded.autoscaler.policy;

/**
 * What one reporter says of one revision.
 *
 * @param reporter the pod that reports
 * @param concurrency requests it held at once, averaged over its last second; finite, not negative
 * @param arrivals requests that reached it in that time
 */
public record Sample(String reporter, double concurrency, double arrivals) {
  public Sample {
    if (!Double.isFinite(concurrency) || concurrency < 0) {
      throw new IllegalArgumentException(
          "the concurrency " + reporter + " reports is no number of requests: " + concurrency);
    }
  }

  /** Whether it could be what a reporter sends at once for the first request of a revision. */
  boolean looksLikeFirstRequest() {
    return concurrency == 1 && arrivals == 1;
  }
}
