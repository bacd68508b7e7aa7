package dev.activator.observability;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.Profiling;
import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.TracingConfig;
import dev.activator.config.ObservabilityConfig;
import dev.activator.config.OtelVariables;
import dev.activator.config.OutboundProxies;
import dev.activator.testing.VirtualLoop;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What leaves the process, seen by a collector that keeps what it is sent. */
class OtlpTest {
  private static final Exporters.Identity IDENTITY = new Exporters.Identity("activator", "1",
      "knative-serving", "pod");

  private final VirtualLoop loop = new VirtualLoop();
  private final Map<String, String> received = new ConcurrentHashMap<>();
  private OutboundProxies proxies = OutboundProxies.of("", "", "");
  private final ByteArrayOutputStream stdout = new ByteArrayOutputStream();
  private final HttpServer http;
  private final Server grpc;

  OtlpTest() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext("/", exchange -> {
      received.put(exchange.getRequestURI().getPath(),
          new String(exchange.getRequestBody().readAllBytes(), ISO_8859_1));
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    });
    http.start();
    grpc = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
        .addService(service("opentelemetry.proto.collector.trace.v1.TraceService"))
        .addService(service("opentelemetry.proto.collector.metrics.v1.MetricsService")).build()
        .start();
  }

  private ServerServiceDefinition service(String name) {
    var bytes = new Bytes();
    var export = MethodDescriptor.<byte[], byte[]>newBuilder(bytes, bytes)
        .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName(name + "/Export").build();
    return ServerServiceDefinition.builder(name)
        .addMethod(export, ServerCalls.asyncUnaryCall((request, answer) -> {
          received.put(name, new String(request, ISO_8859_1));
          answer.onNext(new byte[0]);
          answer.onCompleted();
        })).build();
  }

  @AfterEach
  void stop() {
    http.stop(0);
    grpc.shutdownNow();
  }

  @Test
  void sendsTracesAndMetricsOverHttp() {
    String url = "http://127.0.0.1:" + http.getAddress().getPort();
    run(new MetricsConfig(ExportProtocol.HTTP_PROTOBUF, url + "/", Duration.ZERO),
        new TracingConfig(ExportProtocol.HTTP_PROTOBUF, url, 1));

    assertThat(received(2)).containsOnlyKeys("/v1/traces", "/v1/metrics");
    assertThat(received.get("/v1/traces")).contains("throttler_try", "activator_proxy",
        "GET /greet", "kn.revision.name", "knative-serving");
    assertThat(received.get("/v1/metrics")).contains("http.server.request.duration",
        "kn.revision.request.queued", "testRevision", "http.response.status_code");
  }

  @Test
  @DisplayName("6.1 HTTP_PROXY is on the way of what is pushed over HTTP")
  void sendsByWayOfAProxy() {
    // given a collector that only the proxy could find
    proxies = OutboundProxies.of("http://127.0.0.1:" + http.getAddress().getPort(), "", "");
    String url = "http://collector.invalid:4318";

    run(new MetricsConfig(ExportProtocol.HTTP_PROTOBUF, url, Duration.ZERO),
        new TracingConfig(ExportProtocol.HTTP_PROTOBUF, url, 1));

    assertThat(received(2)).containsOnlyKeys("/v1/traces", "/v1/metrics");
  }

  @Test
  void sendsTracesAndMetricsOverGrpc() {
    String url = "http://127.0.0.1:" + grpc.getPort();
    run(new MetricsConfig(ExportProtocol.GRPC, url, Duration.ofHours(1)),
        new TracingConfig(ExportProtocol.GRPC, url, 1));

    var received = received(2);
    assertThat(received.get("opentelemetry.proto.collector.trace.v1.TraceService"))
        .contains("throttler_try", "GET /greet");
    assertThat(received.get("opentelemetry.proto.collector.metrics.v1.MetricsService"))
        .contains("http.server.request.duration");
  }

  @Test
  void writesSpansToStandardOutput() {
    run(MetricsConfig.NONE, new TracingConfig(ExportProtocol.STDOUT, "", 0));

    assertThat(stdout.toString(StandardCharsets.UTF_8).lines()).hasSize(4)
        .allMatch(line -> line.startsWith("{\"Name\":") && line.endsWith("}}"));
    assertThat(received).isEmpty();
  }

  @Test
  void sendsNothingByDefault() {
    run(MetricsConfig.NONE, TracingConfig.NONE);

    assertThat(received).isEmpty();
    assertThat(stdout.size()).isZero();
  }

  @ParameterizedTest(name = "{0}, {1}, {2}: {3}")
  @CsvSource({"'', '', http://a:4318, http://a:4318/v1/traces",
      "'', '', http://a:4318/, http://a:4318/v1/traces",
      "'', '', http://a:4318/in/here, http://a:4318/in/here",
      "'', '', a:4318, https://a:4318/v1/traces", "'', http://b:1, http://a, http://b:1/v1/traces",
      "'', http://b:1/x/, http://a, http://b:1/x/v1/traces",
      "http://c:1/own, http://b:1, http://a, http://c:1/own"})
  void findsWhereTracesGo(String own, String common, String configured, String expected) {
    assertThat(Exporters.httpEndpoint(own, common, configured, "/v1/traces")).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"a:4317, https://a:4317", "http://a:4317, http://a:4317"})
  void pushesOverTlsUnlessTheEndpointSaysHttp(String configured, String expected) {
    assertThat(Exporters.grpcEndpoint("", "", configured)).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0} at {1}, {2} {3}: {4}")
  @CsvSource({"HTTP_PROTOBUF, 0, '', '', AlwaysOffSampler",
      "HTTP_PROTOBUF, 1, '', '', AlwaysOnSampler", "GRPC, 2, '', '', AlwaysOnSampler",
      "GRPC, 0.25, '', '', 'ParentBased{root:TraceIdRatioBased{0.250000}'",
      "STDOUT, 0, '', '', AlwaysOnSampler", "GRPC, 0.1, always_off, '', AlwaysOffSampler",
      "GRPC, 0, traceidratio, 0.5, TraceIdRatioBased{0.500000}",
      "GRPC, 0.1, '', 0.5, 'ParentBased{root:TraceIdRatioBased{0.500000}'",
      "GRPC, 0.5, parentbased_always_on, '', ParentBased{root:AlwaysOnSampler"})
  void samplesAsTheSettingsSay(ExportProtocol protocol, double rate, String sampler,
      String argument,
      String expected) {
    var otel = new OtelVariables("activator", "", "", "", Duration.ZERO, sampler,
        argument);

    assertThat(new Exporters(otel, proxies, IDENTITY)
        .sampler(new TracingConfig(protocol, "http://x", rate)).getDescription())
        .startsWith(expected);
  }

  /** One request from the start of the process to its end. */
  /** Closing waits three seconds for what is pushed: on a slow machine it comes later. */
  private Map<String, String> received(int messages) {
    await().until(() -> received.size() == messages);
    return Map.copyOf(received);
  }

  private void run(MetricsConfig metrics, TracingConfig tracing) {
    var observers = new RequestObservers();
    var meters = new Meters();
    var observability = new Observability(observers, meters,
        new RequestMeters(meters, _ -> FakeRequest.revision(Map.of())), new LineWriter(stdout),
        Clock.systemUTC());
    observability.use(
        new ObservabilityConfig(Optional.empty(), metrics, tracing, Profiling.DISABLED),
        new Exporters(OtelVariables.NONE, proxies, IDENTITY));
    FakeRequest.of(observers, loop).answered(200, ofMillis(5));
    observability.close();
  }

  /** Messages as they are. */
  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }
  }
}
