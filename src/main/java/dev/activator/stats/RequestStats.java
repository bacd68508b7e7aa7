package dev.activator.stats;

/**
 * The requests of one revision on one loop since the last report, weighted by time.
 *
 * <p><b>Threads.</b> Confined to that loop.
 *
 * <p><b>Units.</b> Nanoseconds since a fixed origin. A time before the last one counts as the last
 * one.
 *
 * <p><b>Errors.</b> {@link IllegalStateException} if a request leaves when there is none.
 *
 * <p><b>Source.</b> {@code request_stats.go} of Knative Serving.
 */
final class RequestStats {
  private int concurrency;
  private long changedNanos;
  private long requests;
  private long requestNanos;
  private long elapsedNanos;
  private int reportedAtOnce;

  /**
   * @param requestNanos the integral of concurrency over time
   * @param reportedAtOnce the number of requests that were reported at once
   * @param inFlight the number of requests at the end of the window
   */
  record Totals(long requests, long requestNanos, long elapsedNanos, int reportedAtOnce,
      int inFlight) {
    double averageConcurrency() {
      return elapsedNanos == 0 ? 0 : (double) requestNanos / elapsedNanos;
    }

    /**
     * Merges the windows of two loops. One of them may have begun later, so the longer time counts.
     */
    Totals plus(Totals other) {
      return new Totals(requests + other.requests, requestNanos + other.requestNanos,
          Math.max(elapsedNanos, other.elapsedNanos), reportedAtOnce + other.reportedAtOnce,
          inFlight + other.inFlight);
    }
  }

  RequestStats(long nowNanos) {
    changedNanos = nowNanos;
  }

  void arrived(long nowNanos) {
    advance(nowNanos);
    concurrency++;
    requests++;
  }

  void left(long nowNanos) {
    if (concurrency == 0) {
      throw new IllegalStateException("a request left that never arrived");
    }
    advance(nowNanos);
    concurrency--;
  }

  void reportedAtOnce() {
    reportedAtOnce++;
  }

  /** Ends the window. The next one begins with the requests in flight. */
  Totals report(long nowNanos) {
    advance(nowNanos);
    var totals = new Totals(requests, requestNanos, elapsedNanos, reportedAtOnce, concurrency);
    requests = 0;
    requestNanos = 0;
    elapsedNanos = 0;
    reportedAtOnce = 0;
    return totals;
  }

  private void advance(long nowNanos) {
    long passedNanos = Math.max(0, nowNanos - changedNanos);
    changedNanos += passedNanos;
    requestNanos += passedNanos * concurrency;
    elapsedNanos += passedNanos;
  }
}
