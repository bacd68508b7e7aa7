package dev.activator.ext.otel;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.activator.observability.ProcessIdentity;
import dev.activator.observability.AsyncLineWriter;
import dev.activator.observability.FakeRequest;
import dev.activator.observability.Meters;
import dev.activator.observability.RequestMeters;
import dev.activator.observability.RequestObservers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.activator.testing.TestRevisions;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.Profiling;
import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.TracingConfig;
import dev.activator.config.ObservabilityConfig;
import dev.activator.config.OutboundProxies;
import dev.activator.config.ParsedSettings;
import dev.activator.testing.Authority;
import dev.activator.testing.VirtualLoop;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.opentelemetry.sdk.testing.exporter.InMemoryLogRecordExporter;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** What leaves the process, seen by a collector that keeps what it is sent. */
class OtlpTest {
  private static final ProcessIdentity IDENTITY = new ProcessIdentity(
      "activator", "1",
      "knative-serving", "pod", Map.of());

  private final VirtualLoop loop = new VirtualLoop();
  /** All messages to an address. */
  private final Map<String, String> received = new ConcurrentHashMap<>();
  private final Map<String, List<String>> headers = new ConcurrentHashMap<>();
  private OutboundProxies proxies = OutboundProxies.of("", "", "");
  private OtelEnvironment environment = OtelEnvironment.NONE;
  private OtelOverrides otel = OtelOverrides.NONE;
  private ProcessIdentity identity = IDENTITY;
  private Meters meters = new Meters();
  private final ByteArrayOutputStream stdout = new ByteArrayOutputStream();
  private final HttpServer http;
  private final Server grpc;

  OtlpTest() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext("/", this::keep);
    http.start();
    grpc = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
        .addService(service("opentelemetry.proto.collector.trace.v1.TraceService"))
        .addService(service("opentelemetry.proto.collector.metrics.v1.MetricsService")).build()
        .start();
  }

  private void keep(HttpExchange exchange) throws IOException {
    received.merge(exchange.getRequestURI().getPath(),
        new String(exchange.getRequestBody().readAllBytes(), ISO_8859_1), String::concat);
    headers.putAll(exchange.getRequestHeaders());
    exchange.sendResponseHeaders(200, -1);
    exchange.close();
  }

  private ServerServiceDefinition service(String name) {
    var bytes = new Bytes();
    var export = MethodDescriptor.<byte[], byte[]>newBuilder(bytes, bytes)
        .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName(name + "/Export").build();
    return ServerServiceDefinition.builder(name)
        .addMethod(export, ServerCalls.asyncUnaryCall((request, answer) -> {
          received.merge(name, new String(request, ISO_8859_1), String::concat);
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
  @DisplayName("HTTP_PROXY is on the way of what is pushed over HTTP")
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

  /** Keeps the certificates of clients, and trusts them all. */
  private static final class Clients implements X509TrustManager {
    private final Set<X509Certificate> seen = ConcurrentHashMap.newKeySet();

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {
      seen.add(chain[0]);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  @Test
  @DisplayName("OTEL_EXPORTER_OTLP_CERTIFICATE, _CLIENT_KEY and _CLIENT_CERTIFICATE, over HTTP")
  void showsACertificateToACollectorOfAnotherAuthority(@TempDir Path files) throws Exception {
    var authority = Authority.named("collectors");
    var own = Authority.named("activators").issue("activator");
    own.write(files.resolve("own.pem"), files.resolve("own.key"), "PKCS#8");
    Files.writeString(files.resolve("ca.pem"), authority.pem());
    environment(Map.of("OTEL_EXPORTER_OTLP_CERTIFICATE", files.resolve("ca.pem").toString(),
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", files.resolve("own.pem").toString(),
        "OTEL_EXPORTER_OTLP_CLIENT_KEY", files.resolve("own.key").toString()));
    var clients = new Clients();
    var tls = authority.issue("localhost").serve(clients);
    var https = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    https.setHttpsConfigurator(new HttpsConfigurator(tls) {
      @Override
      public void configure(HttpsParameters parameters) {
        var asked = tls.getDefaultSSLParameters();
        asked.setNeedClientAuth(true);
        parameters.setSSLParameters(asked);
      }
    });
    https.createContext("/", this::keep);
    https.start();
    try {
      String url = "localhost:" + https.getAddress().getPort();
      run(new MetricsConfig(ExportProtocol.HTTP_PROTOBUF, url, Duration.ZERO),
          new TracingConfig(ExportProtocol.HTTP_PROTOBUF, url, 1));

      assertThat(received(2)).containsOnlyKeys("/v1/traces", "/v1/metrics");
      assertThat(clients.seen).containsExactly(own.certificate());
    } finally {
      https.stop(0);
    }
  }

  @Test
  @DisplayName("OTEL_EXPORTER_OTLP_CERTIFICATE, over gRPC")
  void trustsACollectorOfAnotherAuthorityOverGrpc(@TempDir Path files) throws Exception {
    var authority = Authority.named("collectors");
    authority.issue("localhost").write(files.resolve("server.pem"), files.resolve("server.key"),
        "PKCS#8");
    Files.writeString(files.resolve("ca.pem"), authority.pem());
    environment(Map.of("OTEL_EXPORTER_OTLP_CERTIFICATE", files.resolve("ca.pem").toString()));
    var secure = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
        .useTransportSecurity(files.resolve("server.pem").toFile(),
            files.resolve("server.key").toFile())
        .addService(service("opentelemetry.proto.collector.trace.v1.TraceService")).build()
        .start();
    try {
      run(MetricsConfig.NONE,
          new TracingConfig(ExportProtocol.GRPC, "localhost:" + secure.getPort(), 1));

      assertThat(received(1).get("opentelemetry.proto.collector.trace.v1.TraceService"))
          .contains("throttler_try");
    } finally {
      secure.shutdownNow();
    }
  }

  private void environment(Map<String, String> variables) {
    environment = switch (OtelEnvironment.parse(variables)) {
      case ParsedSettings.Valid<OtelEnvironment>(var valid) -> valid;
      case ParsedSettings.Invalid<OtelEnvironment> invalid ->
        throw new AssertionError(invalid.line());
    };
  }

  private void runOverHttp() {
    String url = "http://127.0.0.1:" + http.getAddress().getPort();
    run(new MetricsConfig(ExportProtocol.HTTP_PROTOBUF, url, Duration.ZERO),
        new TracingConfig(ExportProtocol.HTTP_PROTOBUF, url, 1));
  }

  @Test
  @DisplayName("OTEL_EXPORTER_OTLP_HEADERS, also of one signal")
  void sendsTheHeadersOfTheEnvironment() {
    environment(Map.of("OTEL_EXPORTER_OTLP_HEADERS", "x-all=a%20b,x-other=1",
        "OTEL_TRACES_EXPORTER", "none"));
    runOverHttp();
    received(1);
    assertThat(headers.get("X-all")).containsExactly("a b");
    assertThat(headers.get("X-other")).containsExactly("1");

    environment(Map.of("OTEL_EXPORTER_OTLP_HEADERS", "x-all=a",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-all=traces", "OTEL_METRICS_EXPORTER", "none"));
    runOverHttp();
    received(2);
    assertThat(headers.get("X-all")).containsExactly("traces");
  }

  @Test
  @DisplayName("OTEL_EXPORTER_OTLP_COMPRESSION")
  void compresses() {
    environment(Map.of("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"));
    runOverHttp();

    assertThat(received(2).get("/v1/traces")).doesNotContain("throttler_try");
    assertThat(headers.get("Content-encoding")).containsExactly("gzip");
  }

  @Test
  @DisplayName("OTEL_EXPORTER_OTLP_PROTOCOL")
  void sendsByTheProtocolOfTheEnvironment() {
    environment(Map.of("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc",
        "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/protobuf", "OTEL_METRICS_EXPORTER", "none"));
    String url = "http://127.0.0.1:" + grpc.getPort();
    run(new MetricsConfig(ExportProtocol.HTTP_PROTOBUF, url, Duration.ZERO),
        new TracingConfig(ExportProtocol.HTTP_PROTOBUF, url, 1));

    assertThat(received(1))
        .containsOnlyKeys("opentelemetry.proto.collector.trace.v1.TraceService");
  }

  @Test
  @DisplayName("OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME")
  void namesTheResource() {
    identity = new ProcessIdentity("front", "1", "knative-serving", "pod",
        Map.of("deployment.environment.name", "trial", "k8s.pod.name", "renamed"));
    runOverHttp();

    assertThat(received(2).get("/v1/metrics")).contains("front", "deployment.environment.name",
        "trial", "renamed");
    assertThat(identity.labels().toString()).contains("deployment.environment.name=\"trial\"");
  }

  @Test
  void aLabelThatPrometheusCannotDistinguishFromAnotherIsLeftOut() {
    var labels = new ProcessIdentity("front", "1", "n", "pod",
        Map.of("a.b", "1", "a_b", "2", "9-lives", "3")).labels();

    assertThat(labels.stream().map(label -> label.getName())).contains("a.b").doesNotContain("a_b");
  }

  @Test
  @DisplayName("OTEL_SDK_DISABLED")
  void sendsNothingWhereTheSdkIsDisabled() {
    environment(Map.of("OTEL_SDK_DISABLED", "true", "OTEL_LOGS_EXPORTER", "otlp"));
    runOverHttp();

    assertThat(received).isEmpty();
  }

  @Test
  @DisplayName("OTEL_TRACES_EXPORTER and OTEL_METRICS_EXPORTER win over the ConfigMap")
  void sendsWhatTheEnvironmentRequestsWithoutAConfigMap() {
    environment(Map.of("OTEL_TRACES_EXPORTER", "otlp", "OTEL_METRICS_EXPORTER", "otlp"));
    otel = new OtelOverrides("activator", "http://127.0.0.1:" + http.getAddress().getPort(), "",
        "", Duration.ZERO, "", "");
    run(MetricsConfig.NONE, TracingConfig.NONE);

    assertThat(received(2)).containsOnlyKeys("/v1/traces", "/v1/metrics");
  }

  @Test
  @DisplayName("OTEL_LOGS_EXPORTER and OTEL_EXPORTER_OTLP_LOGS_ENDPOINT")
  void pushesTheLog() {
    environment(Map.of("OTEL_LOGS_EXPORTER", "otlp", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
        "http://127.0.0.1:" + http.getAddress().getPort() + "/logs"));
    var logger = (Logger) LoggerFactory.getLogger(OtlpTest.class);
    // Tests beside this one may switch the log off.
    logger.setLevel(Level.WARN);
    run(MetricsConfig.NONE, TracingConfig.NONE, () -> {
      logger.warn("The pod is {}", "away", new IOException("reset"));
      // Closing gives up after three seconds, however slow the machine is; other tests write to the log, too.
      await().until(() -> received.getOrDefault("/logs", "").contains("The pod is away"));
    });

    assertThat(received(1).get("/logs")).contains("The pod is away", "WARN", "exception.type",
        "java.io.IOException", "reset", OtlpTest.class.getName());
    logger.warn("After the end");
  }

  @ParameterizedTest(name = "{0}={1}: {2}")
  @CsvSource({
      "OTEL_EXPORTER_OTLP_CERTIFICATE, /no/such/file, OTEL_EXPORTER_OTLP_CERTIFICATE",
      "OTEL_EXPORTER_OTLP_CLIENT_KEY, /no/such/file, OTEL_EXPORTER_OTLP_CLIENT_KEY",
      "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE, /no/such/file, OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE"})
  void refusesAFileThatCannotBeUsed(String name, String file, String named) {
    environment(Map.of(name, file));

    assertThatThrownBy(this::runOverHttp).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(named);
  }

  @Test
  @DisplayName("OTEL_PROPAGATORS")
  void readsAndWritesTheHeadersOfThePropagators() {
    environment(Map.of("OTEL_PROPAGATORS", "baggage,b3"));
    assertThat(exporters().propagator().fields()).containsExactly("baggage");
    environment(Map.of("OTEL_PROPAGATORS", "none"));
    assertThat(exporters().propagator().fields()).isEmpty();
    environment(Map.of());
    assertThat(exporters().propagator().fields()).contains("traceparent", "tracestate", "baggage");
  }

  @Test
  @DisplayName("OTEL_SPAN_*, OTEL_LOGRECORD_* and OTEL_ATTRIBUTE_*")
  void limitsSpansAndLines() {
    environment(Map.of("OTEL_ATTRIBUTE_COUNT_LIMIT", "7", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "70",
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "5", "OTEL_SPAN_EVENT_COUNT_LIMIT", "4",
        "OTEL_SPAN_LINK_COUNT_LIMIT", "3", "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", "2",
        "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", "1", "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT",
        "9"));
    var spans = exporters().spanLimits();
    assertThat(List.of(spans.getMaxNumberOfAttributes(), spans.getMaxAttributeValueLength(),
        spans.getMaxNumberOfEvents(), spans.getMaxNumberOfLinks(),
        spans.getMaxNumberOfAttributesPerEvent(), spans.getMaxNumberOfAttributesPerLink()))
        .containsExactly(5, 70, 4, 3, 2, 1);
    var lines = exporters().logLimits();
    assertThat(lines.getMaxNumberOfAttributes()).isEqualTo(7);
    assertThat(lines.getMaxAttributeValueLength()).isEqualTo(9);
  }

  @Test
  @DisplayName("OTEL_BSP_* and OTEL_BLRP_*")
  void batchesAsTheEnvironmentSays() {
    environment(Map.of("OTEL_BSP_SCHEDULE_DELAY", "1", "OTEL_BSP_MAX_QUEUE_SIZE", "11",
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "3", "OTEL_BSP_EXPORT_TIMEOUT", "7"));
    var spans = exporters().batched(InMemorySpanExporter.create());
    assertThat(spans.toString()).contains("maxExportBatchSize=3", "exporterTimeoutNanos=7000000",
        "scheduleDelayNanos=1000000");
    spans.close();

    environment(Map.of("OTEL_BLRP_SCHEDULE_DELAY", "2", "OTEL_BLRP_MAX_QUEUE_SIZE", "11",
        "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "99", "OTEL_BLRP_EXPORT_TIMEOUT", "7"));
    var lines = exporters().batched(InMemoryLogRecordExporter.create());
    assertThat(lines.toString()).contains("maxExportBatchSize=11", "exporterTimeoutNanos=7000000",
        "scheduleDelayNanos=2000000");
    lines.close();
  }

  @Test
  @DisplayName("OTEL_METRICS_EXEMPLAR_FILTER")
  void namesTheTraceOfARequestInTheMetrics() {
    assertThat(scraped(Map.of(), 1)).containsPattern(
        "http_server_request_duration_seconds_bucket.* # \\{span_id=\"[0-9a-f]{16}\",trace_id=\"[0-9a-f]{32}\"} 0\\.005");
    assertThat(scraped(Map.of(), 0)).doesNotContain("trace_id");
    assertThat(scraped(Map.of("OTEL_METRICS_EXEMPLAR_FILTER", "always_on"), 0))
        .contains("trace_id");
    assertThat(scraped(Map.of("OTEL_METRICS_EXEMPLAR_FILTER", "always_off"), 1))
        .doesNotContain("trace_id");
  }

  private String scraped(Map<String, String> variables, double rate) {
    environment(variables);
    var registry = new PrometheusRegistry();
    run(new MetricsConfig(ExportProtocol.PROMETHEUS, "", Duration.ZERO),
        new TracingConfig(ExportProtocol.HTTP_PROTOBUF,
            "http://127.0.0.1:" + http.getAddress().getPort(), rate),
        () -> registry.register(meters));
    var out = new ByteArrayOutputStream();
    try {
      OpenMetricsTextFormatWriter.create().write(out, registry.scrape());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  private TelemetryExporters exporters() {
    return new TelemetryExporters(otel, environment, proxies, identity);
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
    assertThat(TelemetryExporters.httpEndpoint(own, common, configured, "/v1/traces", false))
        .isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"a:4317, https://a:4317", "http://a:4317, http://a:4317"})
  void pushesOverTlsUnlessTheEndpointSaysHttp(String configured, String expected) {
    assertThat(TelemetryExporters.grpcEndpoint("", "", configured, false)).isEqualTo(expected);
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
    var otel = new OtelOverrides("activator", "", "", "", Duration.ZERO, sampler,
        argument);

    assertThat(new TelemetryExporters(otel, OtelEnvironment.NONE, proxies, IDENTITY)
        .sampler(new TracingConfig(protocol, "http://x", rate)).getDescription())
        .startsWith(expected);
  }

  /** Closing waits three seconds for what is pushed: on a slow machine it comes later. */
  private Map<String, String> received(int messages) {
    await().until(() -> received.size() == messages);
    return Map.copyOf(received);
  }

  /** One request from the start of the process to its end. */
  private void run(MetricsConfig metrics, TracingConfig tracing) {
    run(metrics, tracing, () -> {
    });
  }

  private void run(MetricsConfig metrics, TracingConfig tracing, Runnable between) {
    var observers = new RequestObservers();
    meters = new Meters();
    var revisions = new TestRevisions(loop, FakeRequest.revision(Map.of()));
    var out = new AsyncLineWriter(stdout);
    var counts = new RequestMeters(meters, revisions.live);
    var export = new TelemetryExport(observers, meters, out, Clock.systemUTC());
    try {
      var config = new ObservabilityConfig(Optional.empty(), metrics, tracing, Profiling.DISABLED);
      counts.start(environment.metrics(metrics), observers);
      export.start(config, exporters());
      FakeRequest.of(observers, loop, revisions).answered(200, ofMillis(5));
      between.run();
    } finally {
      export.close();
      out.close();
    }
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
