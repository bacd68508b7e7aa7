package dev.activator.stats.policy;

/**
 * The requests of one revision on one loop since the last report, weighted by time.
 *
 * <p>
 * <b>Units.</b> Points in time are nanoseconds since one origin, common to all calls. A point
 * before the last one counts as the last one: time never runs back.
 *
 * <p>
 * <b>Errors.</b> A request that leaves where there is none throws {@link IllegalStateException}.
 *
 * <p>
 * <b>Source.</b> {@code request_stats.go} of Knative Serving.
 *
 * @param concurrency requests there are now
 * @param changedNanos when this was last brought up to date
 * @param requests that arrived by then
 * @param requestNanos concurrency times time, summed up by then
 * @param elapsedNanos the length of the window by then
 */
// Totals as fields: two of these are made for each request, and nothing else is.
public record RequestWindow(int concurrency, long changedNanos, long requests, long requestNanos,
    long elapsedNanos) {
  /** What a window has come to, and the one that follows it. */
  public record Report(WindowTotals totals, RequestWindow next) {}

  /** No request yet. */
  public static RequestWindow startingAt(long nowNanos) {
    return new RequestWindow(0, nowNanos, 0, 0, 0);
  }

  public RequestWindow arrived(long nowNanos) {
    return advanced(nowNanos, 1);
  }

  public RequestWindow left(long nowNanos) {
    if (concurrency == 0) {
      throw new IllegalStateException("a request left that never arrived");
    }
    return advanced(nowNanos, -1);
  }

  /** Ends the window; requests that are there still are so in the next. */
  public Report report(long nowNanos) {
    var now = advanced(nowNanos, 0);
    return new Report(new WindowTotals(now.requests, now.requestNanos, now.elapsedNanos),
        new RequestWindow(concurrency, now.changedNanos, 0, 0, 0));
  }

  /** Then, and with so many requests more. */
  private RequestWindow advanced(long nowNanos, int more) {
    long passedNanos = Math.max(0, nowNanos - changedNanos);
    return new RequestWindow(concurrency + more, changedNanos + passedNanos,
        requests + Math.max(0, more), requestNanos + passedNanos * concurrency,
        elapsedNanos + passedNanos);
  }
}
