package dev.activator.ext.otel;

import static dev.activator.observability.FakeRequest.OTHER_POD;
import static dev.activator.observability.FakeRequest.POD;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.ProcessIdentity;
import dev.activator.observability.ColdStarts;
import dev.activator.observability.FakeRequest;
import dev.activator.observability.RequestObservers;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestTimeline;
import dev.activator.testing.TestRevisions;
import dev.activator.config.OutboundProxies;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestPhases.PodStart;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.util.EnumMap;
import java.util.Map;
import dev.activator.testing.VirtualLoop;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RequestTracerTest {
  private static final String KNATIVE = "knative.dev/serving/pkg/activator";
  private static final String OTELHTTP = "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp";
  private static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");
  private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private final VirtualLoop loop = new VirtualLoop();
  private final InMemorySpanExporter exported = InMemorySpanExporter.create();

  @Test
  @DisplayName("ends four spans, in the order of Knative's")
  void endsFourSpansInTheOrderOfKnatives() {
    var request = FakeRequest.of(tracing(Sampler.alwaysOn()), loop);
    request.headers.put("User-Agent", "curl/8");
    request.headers.put("X-Forwarded-For", "203.0.113.9, 10.0.0.7");
    request.read(5);
    request.answered(200, ofMillis(60));

    var spans = exported.getFinishedSpanItems();
    assertThat(spans).extracting(SpanData::getName).containsExactly("throttler_try", "GET /greet",
        "activator_proxy", "GET");
    assertThat(spans).extracting(SpanData::getKind).containsExactly(SpanKind.INTERNAL,
        SpanKind.CLIENT, SpanKind.INTERNAL, SpanKind.SERVER);
    assertThat(spans).extracting(span -> span.getInstrumentationScopeInfo().getName())
        .containsExactly(KNATIVE, OTELHTTP, KNATIVE, OTELHTTP);
    var server = spans.get(3);
    assertThat(spans.get(0).getParentSpanId()).isEqualTo(server.getSpanId());
    assertThat(spans.get(2).getParentSpanId()).isEqualTo(server.getSpanId());
    assertThat(spans.get(1).getParentSpanId()).isEqualTo(spans.get(2).getSpanId());
    assertThat(server.getEndEpochNanos() - server.getStartEpochNanos()).isEqualTo(60_000_000);
    assertThat(server.getStartEpochNanos()).isEqualTo(NOON.toEpochMilli() * 1_000_000);
    assertThat(text(server, "server.address")).isEqualTo("hello.example");
    assertThat(text(server, "http.request.method")).isEqualTo("GET");
    assertThat(text(server, "url.scheme")).isEqualTo("http");
    assertThat(text(server, "url.path")).isEqualTo("/greet");
    assertThat(text(server, "network.peer.address")).isEqualTo("192.0.2.7");
    assertThat(number(server, "network.peer.port")).isEqualTo(41_000);
    assertThat(text(server, "client.address")).isEqualTo("203.0.113.9");
    assertThat(text(server, "user_agent.original")).isEqualTo("curl/8");
    assertThat(text(server, "network.protocol.version")).isEqualTo("1.1");
    assertThat(number(server, "http.request.body.size")).isEqualTo(5);
    assertThat(number(server, "http.response.status_code")).isEqualTo(200);
    assertThat(server.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
  }

  @Test
  @DisplayName("names the revision on the server's span")
  void namesTheRevision() {
    FakeRequest.of(tracing(Sampler.alwaysOn()), loop).answered(200, ofMillis(1));

    var server = exported.getFinishedSpanItems().getLast();
    assertThat(text(server, "kn.service.name")).isEqualTo("testSvc");
    assertThat(text(server, "kn.configuration.name")).isEqualTo("testConfig");
    assertThat(text(server, "kn.revision.name")).isEqualTo("testRevision");
    assertThat(text(server, "k8s.namespace.name")).isEqualTo("testNs");
  }

  @Test
  void continuesTheCallersTraceAndHandsItOn() {
    var request = FakeRequest.of(tracing(Sampler.alwaysOn()), loop);
    request.headers.put("traceparent", PARENT);
    request.headers.put("tracestate", "vendor=1");
    request.headers.put("baggage", "user=alice");
    request.headers.put("x-b3-traceid", "untouched");
    request.answered(200, ofMillis(1));

    var spans = exported.getFinishedSpanItems();
    assertThat(spans).extracting(SpanData::getTraceId)
        .containsOnly("0af7651916cd43dd8448eb211c80319c");
    assertThat(spans.get(3).getParentSpanId()).isEqualTo("b7ad6b7169203331");
    assertThat(request.headers).containsEntry("traceparent",
        "00-0af7651916cd43dd8448eb211c80319c-" + spans.get(1).getSpanId() + "-01")
        .containsEntry("tracestate", "vendor=1").containsEntry("baggage", "user=alice")
        .containsEntry("x-b3-traceid", "untouched");
  }

  @Test
  void saysWhyARequestGotNoPermit() {
    var request = FakeRequest.of(tracing(Sampler.alwaysOn()), loop);
    request.begin();
    request.queued();
    request.ended(RequestOutcome.QUEUE_FULL, 503);

    var spans = exported.getFinishedSpanItems();
    assertThat(spans).extracting(SpanData::getName).containsExactly("throttler_try", "GET");
    assertThat(spans.get(0).getStatus().getDescription()).isEqualTo("queue-full");
    assertThat(spans.get(1).getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
  }

  private record Start(Map<StartPhase, Long> ends) implements ColdStarts.AwaitedStart {
    @Override
    public PodStart until(long now) {
      return new PodStart(1, 0, now);
    }
  }

  @Test
  void saysInTheSpanOfTheQueueWhatTheStartDidMeanwhile() {
    var observers = new RequestObservers();
    var revisions = new TestRevisions(loop, FakeRequest.revision(Map.of()));
    var ends = new EnumMap<StartPhase, Long>(StartPhase.class);
    observers.add((step, its) -> {
      if (step == Step.QUEUED) {
        RequestTimeline.AWAITED.set(its, new Start(ends));
      }
    });
    observers.add(tracing(Sampler.alwaysOn()));
    var request = FakeRequest.of(observers, loop, revisions);
    request.begin();
    request.queued();
    loop.advance(ofMillis(300));
    ends.put(StartPhase.CREATE, loop.nanoTime() - ofMillis(900).toNanos());
    ends.put(StartPhase.SCHEDULE, loop.nanoTime());
    loop.advance(ofMillis(400));
    ends.put(StartPhase.LIST, loop.nanoTime());
    loop.advance(ofMillis(5));
    ends.put(StartPhase.ANSWER, loop.nanoTime());
    loop.advance(ofMillis(1));
    request.granted(POD);
    request.responding(200);
    request.ended(RequestOutcome.ANSWERED, 200);

    var queued = exported.getFinishedSpanItems().getFirst();
    assertThat(queued.getEvents()).extracting(event -> event.getName() + " "
        + (event.getEpochNanos() - queued.getStartEpochNanos()) / 1_000_000)
        .containsExactly("pod scheduled 300", "pod listed 700", "pod answered a probe 705");
  }

  @Test
  void hasSpansForEachPodThatWasTried() {
    var request = FakeRequest.of(tracing(Sampler.alwaysOn()), loop);
    request.begin();
    request.granted(POD);
    request.forwarding();
    request.undelivered("connection refused");
    request.queued();
    request.granted(OTHER_POD);
    request.forwarding();
    request.responding(404);
    request.ended(RequestOutcome.ANSWERED, 404);

    var spans = exported.getFinishedSpanItems();
    assertThat(spans).extracting(SpanData::getName).containsExactly("throttler_try", "GET /greet",
        "activator_proxy", "throttler_try", "GET /greet", "activator_proxy", "GET");
    assertThat(spans.get(1).getStatus().getDescription()).isEqualTo("connection refused");
    assertThat(text(spans.get(1), "server.address")).isEqualTo("10.0.0.1");
    // a client's fault is the client's span's, and not the server's
    assertThat(spans.get(4).getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(spans.get(6).getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
  }

  @Test
  void hasOneSpanForARequestOfNoRevision() {
    var request = FakeRequest.lost(tracing(Sampler.alwaysOn()), loop);
    request.method = "BREW";
    request.begin();
    request.ended(RequestOutcome.REVISION_UNKNOWN, 404);

    assertThat(exported.getFinishedSpanItems()).singleElement().satisfies(span -> {
      assertThat(span.getName()).isEqualTo("HTTP");
      assertThat(text(span, "http.request.method")).isEqualTo("_OTHER");
    });
  }

  @Test
  void leavesTheContextAloneWithoutTracing() {
    var request = FakeRequest.of(new RequestObservers(), loop);
    request.headers.put("traceparent", PARENT);
    request.answered(200, ofMillis(1));

    assertThat(request.headers).containsEntry("traceparent", PARENT);
  }

  private RequestTracer tracing(Sampler sampler) {
    var provider = SdkTracerProvider.builder().setSampler(sampler)
        .addSpanProcessor(SimpleSpanProcessor.create(exported)).build();
    return new RequestTracer(provider,
        new TelemetryExporters(OtelOverrides.NONE, OtelEnvironment.NONE,
            OutboundProxies.of("", "", ""),
            new ProcessIdentity("activator", "", "", "", Map.of())).propagator(),
        OtelEnvironment.Exemplars.SAMPLED, Clock.fixed(NOON, ZoneOffset.UTC));
  }

  private static String text(SpanData span, String name) {
    return span.getAttributes().get(AttributeKey.stringKey(name));
  }

  private static Long number(SpanData span, String name) {
    return span.getAttributes().get(AttributeKey.longKey(name));
  }
}
