package dev.activator.stats.policy;

/**
 * What a window came to.
 *
 * @param requests that arrived in it
 * @param requestNanos concurrency times time, summed up
 * @param elapsedNanos its length, idle time included
 */
public record WindowTotals(long requests, long requestNanos, long elapsedNanos) {
  public static final WindowTotals NONE = new WindowTotals(0, 0, 0);

  /** Requests there were on average; 0 for a window of no length. */
  public double averageConcurrency() {
    return elapsedNanos == 0 ? 0 : (double) requestNanos / elapsedNanos;
  }

  /**
   * The same window seen from two loops. One of them may have met the revision later: the window is
   * as long as the longer.
   */
  public WindowTotals plus(WindowTotals other) {
    return new WindowTotals(requests + other.requests, requestNanos + other.requestNanos,
        Math.max(elapsedNanos, other.elapsedNanos));
  }
}
