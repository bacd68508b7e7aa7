package dev.activator.stats;

/**
 * The requests of one revision on one loop since the last report, weighted by time.
 *
 * <p>
 * <b>Threads.</b> Confined to that loop.
 *
 * <p>
 * <b>Units.</b> Points in time are nanoseconds since one origin, common to all calls. A point before
 * the last one counts as the last one: time never runs back.
 *
 * <p>
 * <b>Errors.</b> A request that leaves where there is none throws {@link IllegalStateException}.
 *
 * <p>
 * <b>Source.</b> {@code request_stats.go} of Knative Serving.
 */
final class RequestWindow {
  private int concurrency;
  private long changedNanos;
  private long requests;
  private long requestNanos;
  private long elapsedNanos;
  private int toldAtOnce;

  /**
   * What a window came to.
   *
   * @param requests that arrived in it
   * @param requestNanos concurrency times time, summed up
   * @param elapsedNanos its length, idle time included
   * @param toldAtOnce how many of its requests the autoscaler was told at once
   * @param inFlight how many requests there were at its end
   */
  record Totals(long requests, long requestNanos, long elapsedNanos, int toldAtOnce,
      int inFlight) {
    /** The average number of requests; 0 for a window of no length. */
    double averageConcurrency() {
      return elapsedNanos == 0 ? 0 : (double) requestNanos / elapsedNanos;
    }

    /** The same window seen from two loops, as long as the longer: one loop may have begun later. */
    Totals plus(Totals other) {
      return new Totals(requests + other.requests, requestNanos + other.requestNanos,
          Math.max(elapsedNanos, other.elapsedNanos), toldAtOnce + other.toldAtOnce,
          inFlight + other.inFlight);
    }
  }

  /** An empty window. */
  RequestWindow(long nowNanos) {
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

  /** The autoscaler was told of one of the requests at once. */
  void toldAtOnce() {
    toldAtOnce++;
  }

  /** Ends the window and begins the next, in which the present requests still are. */
  Totals report(long nowNanos) {
    advance(nowNanos);
    var totals = new Totals(requests, requestNanos, elapsedNanos, toldAtOnce, concurrency);
    requests = 0;
    requestNanos = 0;
    elapsedNanos = 0;
    toldAtOnce = 0;
    return totals;
  }

  private void advance(long nowNanos) {
    long passedNanos = Math.max(0, nowNanos - changedNanos);
    changedNanos += passedNanos;
    requestNanos += passedNanos * concurrency;
    elapsedNanos += passedNanos;
  }
}
