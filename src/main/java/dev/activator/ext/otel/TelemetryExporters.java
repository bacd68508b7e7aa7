package dev.activator.ext.otel;

import dev.activator.observability.ProcessIdentity;
import dev.activator.observability.AsyncLineWriter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.time.Instant;
import java.util.Collection;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.TracingConfig;
import dev.activator.ext.otel.OtelEnvironment.Signal;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.exporter.otlp.http.logs.OtlpHttpLogRecordExporter;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.autoconfigure.spi.internal.DefaultConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.logs.ConfigurableLogRecordExporterProvider;
import io.opentelemetry.sdk.autoconfigure.spi.metrics.ConfigurableMetricExporterProvider;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.logs.LogLimits;
import io.opentelemetry.sdk.logs.export.BatchLogRecordProcessor;
import io.opentelemetry.sdk.logs.export.LogRecordExporter;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.stream.Collectors;
import dev.activator.config.OutboundProxies;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.export.ProxyOptions;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Creates the exporters of traces, metrics and logs. The environment takes precedence over the
 * ConfigMap.
 *
 * <p><b>Source.</b> OpenTelemetry's "OTLP exporter configuration" and "SDK environment variables";
 * {@code observability/tracing} of {@code knative.dev/pkg}.
 */
record TelemetryExporters(OtelOverrides otel, OtelEnvironment environment,
    OutboundProxies proxies,
    ProcessIdentity identity) {
  private static final String OTLP = "OTEL_EXPORTER_OTLP_";

  Resource resource() {
    var all = Resource.getDefault().toBuilder();
    identity.attributes().forEach(all::put);
    return all.build();
  }

  /** The exporter of traces; null if there are none. */
  @Nullable SpanExporter of(TracingConfig config, AsyncLineWriter out) {
    return switch (config.protocol()) {
      case NONE, PROMETHEUS -> null;
      case STDOUT -> new SpanLines(out);
      case HTTP_PROTOBUF, GRPC -> {
        var made = provided(ConfigurableSpanExporterProvider.class,
            ConfigurableSpanExporterProvider::getName, provider -> provider.createExporter(
                settings(Signal.TRACES, config.protocol(), otel.tracesEndpoint(),
                    config.endpoint())));
        yield made instanceof OtlpHttpSpanExporter http
            ? http.toBuilder().setProxy(proxyOptions()).build()
            : made;
      }
    };
  }

  /** The exporter of metrics; null if they are scraped, or if there are none. */
  @Nullable MetricExporter of(MetricsConfig config) {
    if (!config.protocol().pushes()) {
      return null;
    }
    var made = provided(ConfigurableMetricExporterProvider.class,
        ConfigurableMetricExporterProvider::getName, provider -> provider.createExporter(
            settings(Signal.METRICS, config.protocol(), otel.metricsEndpoint(),
                config.endpoint())));
    return made instanceof OtlpHttpMetricExporter http
        ? http.toBuilder().setProxyOptions(proxyOptions()).build()
        : made;
  }

  /** The exporter of the log; null if it is not pushed. */
  @Nullable LogRecordExporter ofLogs() {
    var protocol = environment.logs();
    if (!protocol.pushes()) {
      return null;
    }
    var made = provided(ConfigurableLogRecordExporterProvider.class,
        ConfigurableLogRecordExporterProvider::getName, provider -> provider.createExporter(
            settings(Signal.LOGS, protocol, environment.logsEndpoint(), "")));
    return made instanceof OtlpHttpLogRecordExporter http
        ? http.toBuilder().setProxyOptions(proxyOptions()).build()
        : made;
  }

  /**
   * An exporter for which the library itself reads the variables for headers, timeouts, compression
   * and certificates.
   *
   * @throws IllegalArgumentException naming the variables
   */
  private <P, E> E provided(Class<P> type, Function<P, String> name, Function<P, E> maker) {
    var otlp = ServiceLoader.load(type, TelemetryExporters.class.getClassLoader()).stream()
        .map(ServiceLoader.Provider::get).filter(each -> name.apply(each).equals("otlp"))
        .findFirst().orElseThrow(() -> new IllegalStateException("no " + type.getName()));
    try {
      return maker.apply(otlp);
    } catch (ConfigurationException | IllegalArgumentException e) {
      var names = environment.set().keySet().stream().filter(each -> each.startsWith(OTLP));
      throw new IllegalArgumentException(
          names.collect(Collectors.joining(", ")) + ": " + e.getMessage(), e);
    }
  }

  private DefaultConfigProperties settings(Signal signal, ExportProtocol protocol, String own,
      String configured) {
    var all = new HashMap<String, String>();
    environment.set().forEach(
        (name, value) -> all.put(name.toLowerCase(Locale.ROOT).replace('_', '.'), value));
    var name = signal.name().toLowerCase(Locale.ROOT);
    var prefix = "otel.exporter.otlp." + name + ".";
    boolean isHttp = protocol == ExportProtocol.HTTP_PROTOBUF;
    boolean insecure = environment.isInsecure(signal);
    all.put(prefix + "protocol", isHttp ? "http/protobuf" : "grpc");
    all.put(prefix + "endpoint",
        isHttp
            ? httpEndpoint(own, otel.endpoint(), configured, "/v1/" + name, insecure)
            : grpcEndpoint(own, otel.endpoint(), configured, insecure));
    return DefaultConfigProperties.createFromMap(all);
  }

  Sampler sampler(TracingConfig config) {
    return switch (otel.sampler()) {
      case "" -> config.protocol() == ExportProtocol.STDOUT
          ? Sampler.alwaysOn()
          : sampler(rate(config));
      case "always_on" -> Sampler.alwaysOn();
      case "always_off" -> Sampler.alwaysOff();
      case "parentbased_always_on" -> Sampler.parentBased(Sampler.alwaysOn());
      case "parentbased_always_off" -> Sampler.parentBased(Sampler.alwaysOff());
      case "traceidratio" -> Sampler.traceIdRatioBased(rate(config));
      default -> Sampler.parentBased(Sampler.traceIdRatioBased(rate(config)));
    };
  }

  private double rate(TracingConfig config) {
    return otel.samplerArgument().isEmpty()
        ? config.samplingRate()
        : Double.parseDouble(otel.samplerArgument());
  }

  private static Sampler sampler(double rate) {
    if (rate >= 1) {
      return Sampler.alwaysOn();
    }
    return rate <= 0 ? Sampler.alwaysOff() : Sampler.parentBased(Sampler.traceIdRatioBased(rate));
  }

  /**
   * The endpoint of a signal over HTTP. A signal's own endpoint is used unchanged; the signal's
   * path is appended to the common one.
   *
   * @param configured the endpoint of the ConfigMap; the path is appended only if it has none
   */
  static String httpEndpoint(String own, String common, String configured, String path,
      boolean insecure) {
    if (!own.isEmpty()) {
      return withScheme(own, insecure);
    }
    if (!common.isEmpty()) {
      String base = withScheme(common, insecure);
      return (base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + path;
    }
    String url = configured.isEmpty() ? "http://localhost:4318" : withScheme(configured, insecure);
    String given = URI.create(url).getPath();
    return given.isEmpty() || given.equals("/") ? URI.create(url).resolve(path).toString() : url;
  }

  static String grpcEndpoint(String own, String common, String configured, boolean insecure) {
    var chosen = own.isEmpty() ? common.isEmpty() ? configured : common : own;
    return chosen.isEmpty() ? "http://localhost:4317" : withScheme(chosen, insecure);
  }

  /** Adds the scheme if there is none. As in Knative, host and port alone mean TLS. */
  private static String withScheme(String url, boolean insecure) {
    return url.contains("://") ? url : (insecure ? "http://" : "https://") + url;
  }

  /** The propagator that reads the context from a request's headers, and writes it for the pod. */
  TextMapPropagator propagator() {
    return TextMapPropagator
        .composite(environment.propagators().stream().<TextMapPropagator>mapMulti(
            (word, all) -> {
              switch (word) {
                case "tracecontext" -> all.accept(W3CTraceContextPropagator.getInstance());
                case "baggage" -> all.accept(W3CBaggagePropagator.getInstance());
                default -> {
                  // The log reports that this one has no effect.
                }
              }
            }).toList());
  }

  BatchSpanProcessor batched(SpanExporter exporter) {
    var batch = BatchSpanProcessor.builder(exporter)
        .setScheduleDelay(environment.duration("OTEL_BSP_SCHEDULE_DELAY", Duration.ofSeconds(5)))
        .setExporterTimeout(
            environment.duration("OTEL_BSP_EXPORT_TIMEOUT", Duration.ofSeconds(30)));
    int queue = Math.max(1, environment.count("OTEL_BSP_MAX_QUEUE_SIZE", 2048));
    return batch.setMaxQueueSize(queue).setMaxExportBatchSize(
        Math.clamp(environment.count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512), 1, queue)).build();
  }

  BatchLogRecordProcessor batched(LogRecordExporter exporter) {
    var batch = BatchLogRecordProcessor.builder(exporter)
        .setScheduleDelay(environment.duration("OTEL_BLRP_SCHEDULE_DELAY", Duration.ofSeconds(1)))
        .setExporterTimeout(
            environment.duration("OTEL_BLRP_EXPORT_TIMEOUT", Duration.ofSeconds(30)));
    int queue = Math.max(1, environment.count("OTEL_BLRP_MAX_QUEUE_SIZE", 2048));
    return batch.setMaxQueueSize(queue).setMaxExportBatchSize(
        Math.clamp(environment.count("OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", 512), 1, queue)).build();
  }

  SpanLimits spanLimits() {
    return SpanLimits.builder()
        .setMaxNumberOfAttributes(limit("SPAN_ATTRIBUTE_COUNT_LIMIT", attributes()))
        .setMaxAttributeValueLength(limit("SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", length()))
        .setMaxNumberOfEvents(limit("SPAN_EVENT_COUNT_LIMIT", 128))
        .setMaxNumberOfLinks(limit("SPAN_LINK_COUNT_LIMIT", 128))
        .setMaxNumberOfAttributesPerEvent(limit("EVENT_ATTRIBUTE_COUNT_LIMIT", 128))
        .setMaxNumberOfAttributesPerLink(limit("LINK_ATTRIBUTE_COUNT_LIMIT", 128)).build();
  }

  LogLimits logLimits() {
    return LogLimits.builder()
        .setMaxNumberOfAttributes(limit("LOGRECORD_ATTRIBUTE_COUNT_LIMIT", attributes()))
        .setMaxAttributeValueLength(limit("LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT", length()))
        .build();
  }

  private int attributes() {
    return limit("ATTRIBUTE_COUNT_LIMIT", 128);
  }

  private int length() {
    return limit("ATTRIBUTE_VALUE_LENGTH_LIMIT", Integer.MAX_VALUE);
  }

  private int limit(String name, int absent) {
    return environment.count("OTEL_" + name, absent);
  }

  /**
   * The options of the outbound proxy. Used for HTTP only, because a plain proxy does not forward
   * gRPC.
   */
  private ProxyOptions proxyOptions() {
    return ProxyOptions.create(new ProxySelector() {
      @Override
      public List<Proxy> select(@Nullable URI target) {
        var url = target == null ? null : proxies.of(target);
        return List.of(url == null ? Proxy.NO_PROXY : proxy(url));
      }

      @Override
      public void connectFailed(@Nullable URI target, @Nullable SocketAddress proxy,
          @Nullable IOException why) {
        // The exporter logs the failure and retries.
      }
    });
  }

  private static Proxy proxy(URI url) {
    int defaultPort = "https".equals(url.getScheme()) ? 443 : 80;
    // Unresolved, because the client resolves it, and again after each failure.
    return new Proxy("socks5".equals(url.getScheme()) ? Proxy.Type.SOCKS : Proxy.Type.HTTP,
        InetSocketAddress.createUnresolved(url.getHost(),
            url.getPort() < 0 ? defaultPort : url.getPort()));
  }

  /**
   * An exporter that writes each span as a line of JSON.
   *
   * <p><b>Source.</b> {@code stdouttrace} of OpenTelemetry for Go.
   */
  private static final class SpanLines implements SpanExporter {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final AsyncLineWriter out;

    SpanLines(AsyncLineWriter out) {
      this.out = out;
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      spans.forEach(span -> out.write(line(span) + "\n"));
      return CompletableResultCode.ofSuccess();
    }

    private static ObjectNode line(SpanData span) {
      var line = JSON.createObjectNode().put("Name", span.getName());
      line.putObject("SpanContext").put("TraceID", span.getTraceId()).put("SpanID",
          span.getSpanId());
      line.putObject("Parent").put("SpanID", span.getParentSpanId());
      line.put("SpanKind", span.getKind().name()).put("StartTime", time(span.getStartEpochNanos()))
          .put("EndTime", time(span.getEndEpochNanos()));
      var attributes = line.putObject("Attributes");
      span.getAttributes().forEach((key, value) -> attributes.put(key.getKey(), value.toString()));
      line.putObject("Status").put("Code", span.getStatus().getStatusCode().name())
          .put("Description", span.getStatus().getDescription());
      return line;
    }

    private static String time(long epochNanos) {
      return Instant.EPOCH.plusNanos(epochNanos).toString();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }
}
