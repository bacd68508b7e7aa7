package dev.activator.autoscaler.policy;

/**
 * One activator's report on one revision, over one second.
 *
 * @param concurrency average
 */
public record Sample(String reporter, double concurrency, double arrivals) {
  public Sample {
    if (!Double.isFinite(concurrency) || concurrency < 0) {
      throw new IllegalArgumentException(
          "the concurrency that " + reporter + " reports is not a number of requests: "
              + concurrency);
    }
  }

  /** Whether it may be the immediate report of a revision's first request. */
  boolean looksLikeFirstRequest() {
    return concurrency == 1 && arrivals == 1;
  }
}
