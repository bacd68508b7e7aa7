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
 * @param totals what the window came to by then
 */
public record RequestWindow(int concurrency, long changedNanos, WindowTotals totals) {
  /** What a window has come to, and the one that follows it. */
  public record Report(WindowTotals totals, RequestWindow next) {}

  /** No request yet. */
  public static RequestWindow startingAt(long nowNanos) {
    return new RequestWindow(0, nowNanos, WindowTotals.NONE);
  }

  public RequestWindow arrived(long nowNanos) {
    var now = advanced(nowNanos);
    return new RequestWindow(concurrency + 1, now.changedNanos, now.totals.plusRequest());
  }

  public RequestWindow left(long nowNanos) {
    if (concurrency == 0) {
      throw new IllegalStateException("a request left that never arrived");
    }
    var now = advanced(nowNanos);
    return new RequestWindow(concurrency - 1, now.changedNanos, now.totals);
  }

  /** Ends the window; requests that are there still are so in the next. */
  public Report report(long nowNanos) {
    var now = advanced(nowNanos);
    return new Report(now.totals,
        new RequestWindow(concurrency, now.changedNanos, WindowTotals.NONE));
  }

  private RequestWindow advanced(long nowNanos) {
    long passedNanos = nowNanos - changedNanos;
    return passedNanos <= 0
        ? this
        : new RequestWindow(concurrency, nowNanos, totals.plusTime(passedNanos, concurrency));
  }
}
