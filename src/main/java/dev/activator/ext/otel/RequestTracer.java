package dev.activator.ext.otel;

import dev.activator.observability.RequestTimeline.RequestTrace;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestTimeline;
import dev.activator.ext.otel.OtelEnvironment.Exemplars;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.time.Clock;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Creates the spans of each request: {@code GET} for the whole request, {@code throttler_try} while
 * it is queued, {@code activator_proxy} while it has a permit, and {@code GET /path} for the
 * request to the pod.
 *
 * <p><b>Threads.</b> Called on each request's loop.
 *
 * <p><b>Units.</b> Requests use nanoseconds of the loop's clock, spans nanoseconds since 1970.
 *
 * <p><b>Source.</b> {@code activation handler.go} of Knative and {@code otelhttp} of OpenTelemetry
 * for Go.
 */
final class RequestTracer implements RequestObserver {
  private static final TextMapGetter<RequestTimeline> HEADERS = new Headers();
  private static final TextMapSetter<RequestTimeline> SET_HEADER = (request, name, value) -> {
    if (request != null) {
      request.setHeader(name, value);
    }
  };

  private static final String OWN = "knative.dev/serving/pkg/activator";
  private static final String HTTP = "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp";

  private final Tracer own;
  private final Tracer http;
  private final TextMapPropagator context;
  private final Exemplars exemplars;
  private final Clock clock;

  /** @param exemplars which traces may be exemplars of metrics */
  RequestTracer(TracerProvider tracers, TextMapPropagator context, Exemplars exemplars,
      Clock clock) {
    this.context = context;
    this.exemplars = exemplars;
    this.own = tracers.get(OWN);
    this.http = tracers.get(HTTP);
    this.clock = clock;
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    if (step == Step.ARRIVED) {
      request.traceWith(arrived(request));
    }
    if (!(request.trace() instanceof Spans spans)) {
      return;
    }
    switch (step) {
      case ARRIVED -> {
        if (request.revision() != null) {
          beginWaiting(spans, request.arrivedNanos());
        }
      }
      case GRANTED -> granted(request, spans);
      case FORWARDING -> inject(request, spans);
      case UNDELIVERED -> {
        long now = request.now();
        spans.endClient(request, now);
        beginWaiting(spans, now);
      }
      case ENDED -> spans.endAll(request);
      case QUEUED, RESPONDING -> {
        // These steps change no span: a wait begins at the arrival or at the last end, and the
        // response is added at the end.
      }
    }
  }

  private Spans arrived(RequestTimeline request) {
    var now = clock.instant();
    long epochNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    long offset = epochNanos - request.now();
    var parent = context.extract(Context.root(), request, HEADERS);
    var server = http.spanBuilder(SpanAttributes.serverName(request.method()))
        .setSpanKind(SpanKind.SERVER).setParent(parent)
        .setStartTimestamp(request.arrivedNanos() + offset, TimeUnit.NANOSECONDS)
        .setAllAttributes(SpanAttributes.server(request)).startSpan();
    return new Spans(server, parent, offset, switch (exemplars) {
      case NONE -> false;
      case SAMPLED -> server.getSpanContext().isSampled();
      case ALL -> server.getSpanContext().isValid();
    });
  }

  private void beginWaiting(Spans spans, long nanos) {
    spans.waitingSince = nanos;
    spans.waiting = begin(spans, "throttler_try", SpanKind.INTERNAL, spans.server, nanos);
  }

  private Span begin(Spans spans, String name, SpanKind kind, Span parent, long nanos) {
    return (kind == SpanKind.INTERNAL ? own : http).spanBuilder(name).setSpanKind(kind)
        .setParent(spans.callers.with(parent))
        .setStartTimestamp(nanos + spans.offsetNanos, TimeUnit.NANOSECONDS).startSpan();
  }

  private void granted(RequestTimeline request, Spans spans) {
    long now = request.grantedNanos();
    spans.endWaiting(request, now);
    var proxying = begin(spans, "activator_proxy", SpanKind.INTERNAL, spans.server, now);
    spans.proxying = proxying;
    spans.client = begin(spans, SpanAttributes.clientName(request), SpanKind.CLIENT, proxying, now);
  }

  private void inject(RequestTimeline request, Spans spans) {
    var client = spans.client;
    if (client != null) {
      client.setAllAttributes(SpanAttributes.sent(request));
      context.inject(spans.callers.with(client), request, SET_HEADER);
    }
  }

  private static final class Spans implements RequestTrace {
    private final Span server;
    private final Context callers;
    /** The clock of spans minus the clock of the loop. */
    private final long offsetNanos;
    private final boolean isExemplar;
    private @Nullable Span waiting;
    private long waitingSince;
    private @Nullable Span proxying;
    private @Nullable Span client;

    private Spans(Span server, Context callers, long offsetNanos, boolean isExemplar) {
      this.server = server;
      this.callers = callers;
      this.offsetNanos = offsetNanos;
      this.isExemplar = isExemplar;
    }

    @Override
    public boolean isExemplar() {
      return isExemplar;
    }

    @Override
    public String spanId() {
      return server.getSpanContext().getSpanId();
    }

    @Override
    public long epochMillis(long nanos) {
      return TimeUnit.NANOSECONDS.toMillis(nanos + offsetNanos);
    }

    @Override
    public String traceId() {
      return server.getSpanContext().getTraceId();
    }

    private void end(Span span, long nanos) {
      span.end(nanos + offsetNanos, TimeUnit.NANOSECONDS);
    }

    private void endWaiting(RequestTimeline request, long nanos) {
      var span = waiting;
      if (span != null) {
        addStart(span, request, nanos);
        end(span, nanos);
        waiting = null;
      }
    }

    /** Adds what is known of the start that the request waited for. */
    private void addStart(Span span, RequestTimeline request, long nanos) {
      var start = RequestTimeline.AWAITED.of(request);
      if (start != null && !request.hasFallenBack() && span.isRecording()) {
        start.ends().forEach((phase, end) -> {
          if (end - waitingSince >= 0 && nanos - end >= 0) {
            span.addEvent(phase.end(), end + offsetNanos, TimeUnit.NANOSECONDS);
          }
        });
      }
    }

    private void endClient(RequestTimeline request, long nanos) {
      if (client != null && proxying != null) {
        SpanAttributes.finishClient(client, request);
        end(client, nanos);
        end(proxying, nanos);
      }
      client = null;
      proxying = null;
    }

    private void endAll(RequestTimeline request) {
      long now = request.endedNanos();
      if (waiting != null) {
        waiting.setStatus(StatusCode.ERROR, String.valueOf(request.outcome()));
        endWaiting(request, now);
      }
      endClient(request, now);
      SpanAttributes.finishServer(server, request);
      end(server, now);
    }
  }

  private static final class Headers implements TextMapGetter<RequestTimeline> {
    @Override
    public Iterable<String> keys(RequestTimeline request) {
      return List.of(); // Not needed by the propagators used here.
    }

    @Override
    public @Nullable String get(@Nullable RequestTimeline request, String name) {
      return request == null ? null : request.header(name);
    }

    @Override
    public Iterator<String> getAll(@Nullable RequestTimeline request, String name) {
      return request == null ? List.<String>of().iterator() : request.headers(name).iterator();
    }
  }
}
