package dev.activator.observability.trace;

import dev.activator.observability.request.HttpLabels;
import dev.activator.observability.request.RequestObserver;
import dev.activator.observability.request.RequestRecord;
import dev.activator.observability.request.RequestSpans;
import dev.activator.revision.Revision;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.time.Clock;
import java.util.concurrent.TimeUnit;

/**
 * The spans of requests: {@code GET} for all of one, {@code throttler_try} while it waits for a
 * permit, {@code activator_proxy} while it has one, and {@code GET /path} for what the pod is asked.
 * A pod that cannot be reached ends the last two, and the request waits again.
 *
 * <p>
 * <b>Threads.</b> Each request is told of on its loop.
 *
 * <p>
 * <b>Source.</b> {@code activation handler.go} of Knative and {@code otelhttp} of OpenTelemetry's
 * contributions for Go.
 */
public final class Tracing implements RequestObserver {
  private static final TextMapPropagator CONTEXT = TextMapPropagator
      .composite(W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance());

  /** What Knative's own spans are filed under. */
  private static final String OWN = "knative.dev/serving/pkg/activator";
  /** What those of requests as such are. */
  private static final String HTTP = "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp";

  private final Tracer own;
  private final Tracer http;
  private final Clock clock;

  public Tracing(TracerProvider tracers, Clock clock) {
    this.own = tracers.get(OWN);
    this.http = tracers.get(HTTP);
    this.clock = clock;
  }

  @Override
  public void saw(Step step, RequestRecord request) {
    if (step == Step.ARRIVED) {
      request.spans = arrived(request);
    }
    var spans = request.spans;
    if (spans == null) {
      return;
    }
    switch (step) {
      case ARRIVED -> {
        if (request.revision() != null) {
          beginWaiting(request, spans, request.arrivedNanos());
        }
      }
      case GRANTED -> granted(request, spans);
      case FORWARDING -> inject(request, spans);
      case UNDELIVERED -> undelivered(request, spans);
      case ENDED -> ended(request, spans);
      case QUEUED, RESPONDING -> {
        // It waits since it arrived, and what the response is, its end tells.
      }
    }
  }

  private RequestSpans arrived(RequestRecord request) {
    var now = clock.instant();
    long epochNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    long offset = epochNanos - request.now();
    var parent = CONTEXT.extract(Context.root(), request, Carrier.INSTANCE);
    var server = http.spanBuilder(SpanAttributes.serverName(request.method()))
        .setSpanKind(SpanKind.SERVER).setParent(parent)
        .setStartTimestamp(request.arrivedNanos() + offset, TimeUnit.NANOSECONDS)
        .setAllAttributes(SpanAttributes.server(request)).startSpan();
    return new RequestSpans(server, parent, offset);
  }

  private void beginWaiting(RequestRecord request, RequestSpans spans, long nanos) {
    spans.waiting = begin(spans, "throttler_try", SpanKind.INTERNAL, spans.server(), nanos);
  }

  private Span begin(RequestSpans spans, String name, SpanKind kind, Span parent, long nanos) {
    return (kind == SpanKind.INTERNAL ? own : http).spanBuilder(name).setSpanKind(kind)
        .setParent(spans.context(parent))
        .setStartTimestamp(spans.epochNanos(nanos), TimeUnit.NANOSECONDS).startSpan();
  }

  private void granted(RequestRecord request, RequestSpans spans) {
    long now = request.grantedNanos();
    var waiting = spans.waiting;
    if (waiting != null) {
      spans.end(waiting, now);
      spans.waiting = null;
    }
    var proxying = begin(spans, "activator_proxy", SpanKind.INTERNAL, spans.server(), now);
    spans.proxying = proxying;
    spans.asking = begin(spans, SpanAttributes.clientName(request), SpanKind.CLIENT, proxying, now);
  }

  private static void inject(RequestRecord request, RequestSpans spans) {
    var asking = spans.asking;
    if (asking != null) {
      asking.setAllAttributes(SpanAttributes.sent(request));
      CONTEXT.inject(spans.context(asking), request, Carrier.INSTANCE);
    }
  }

  private void undelivered(RequestRecord request, RequestSpans spans) {
    long now = request.now();
    endAsking(request, spans, now);
    beginWaiting(request, spans, now);
  }

  private static void endAsking(RequestRecord request, RequestSpans spans, long nanos) {
    var asking = spans.asking;
    var proxying = spans.proxying;
    if (asking != null && proxying != null) {
      SpanAttributes.finishClient(asking, request);
      spans.end(asking, nanos);
      spans.end(proxying, nanos);
    }
    spans.asking = null;
    spans.proxying = null;
  }

  private static void ended(RequestRecord request, RequestSpans spans) {
    long now = request.endedNanos();
    var waiting = spans.waiting;
    if (waiting != null) {
      waiting.setStatus(StatusCode.ERROR, String.valueOf(request.outcome()));
      spans.end(waiting, now);
    }
    endAsking(request, spans, now);
    var server = spans.server();
    SpanAttributes.finishServer(server, request);
    var revision = request.revision();
    if (revision != null) {
      name(server, revision);
    }
    spans.end(server, now);
  }

  private static void name(Span server, Revision revision) {
    HttpLabels.of(revision)
        .forEach(label -> server.setAttribute(label.getName(), label.getValue()));
  }
}
