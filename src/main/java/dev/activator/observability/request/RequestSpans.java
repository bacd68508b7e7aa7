package dev.activator.observability.request;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The spans of one request that are open.
 *
 * <p>
 * <b>Threads.</b> The request's loop.
 *
 * <p>
 * <b>Units.</b> Requests measure in nanoseconds of the loop's clock, spans since 1970.
 */
public final class RequestSpans {
  private final Span server;
  private final Context callers;
  private final long offsetNanos;
  public @Nullable Span waiting;
  public @Nullable Span proxying;
  public @Nullable Span asking;

  /**
   * @param callers what the caller sent along
   * @param offsetNanos between the two clocks
   */
  public RequestSpans(Span server, Context callers, long offsetNanos) {
    this.server = server;
    this.callers = callers;
    this.offsetNanos = offsetNanos;
  }

  public Span server() {
    return server;
  }

  String traceId() {
    return server.getSpanContext().getTraceId();
  }

  /** What the caller sent along, with this span as the one to be a child of. */
  public Context context(Span parent) {
    return callers.with(parent);
  }

  /** A point in time as spans have it. */
  public long epochNanos(long nanos) {
    return nanos + offsetNanos;
  }

  public void end(Span span, long nanos) {
    span.end(epochNanos(nanos), TimeUnit.NANOSECONDS);
  }
}
