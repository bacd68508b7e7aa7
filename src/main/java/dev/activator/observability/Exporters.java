package dev.activator.observability;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.time.Instant;
import java.util.Collection;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.TracingConfig;
import dev.activator.config.OtelVariables;
import dev.activator.config.OutboundProxies;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.metrics.OtlpGrpcMetricExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.common.export.ProxyOptions;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.prometheus.metrics.model.snapshots.Labels;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The exporters by which traces and metrics leave the process. The environment takes precedence
 * over the ConfigMap.
 *
 * <p><b>Source.</b> OpenTelemetry's "OTLP exporter configuration" and "SDK environment variables";
 * {@code observability/tracing} of {@code knative.dev/pkg}.
 */
public record Exporters(OtelVariables otel, OutboundProxies proxies, Identity identity) {

  public record Identity(String service, String version, String namespace, String pod) {

    public Labels labels() {
      return Labels.of("service.name", service, "service.version", version, "k8s.namespace.name",
          namespace, "k8s.pod.name", pod);
    }
  }

  Resource resource() {
    var all = Resource.getDefault().toBuilder();
    identity.labels().forEach(label -> all.put(label.getName(), label.getValue()));
    return all.build();
  }

  /** Null if nothing is traced. */
  @Nullable SpanExporter of(TracingConfig config, LineWriter out) {
    return switch (config.protocol()) {
      case NONE, PROMETHEUS -> null;
      case STDOUT -> new SpanLines(out);
      case HTTP_PROTOBUF -> OtlpHttpSpanExporter.builder().setProxy(proxyOptions())
          .setEndpoint(httpEndpoint(otel.tracesEndpoint(), otel.endpoint(), config.endpoint(),
              "/v1/traces"))
          .build();
      case GRPC -> OtlpGrpcSpanExporter.builder().setEndpoint(
          grpcEndpoint(otel.tracesEndpoint(), otel.endpoint(), config.endpoint())).build();
    };
  }

  /** Null if metrics are scraped, or there are none. */
  @Nullable MetricExporter of(MetricsConfig config) {
    return switch (config.protocol()) {
      case NONE, PROMETHEUS, STDOUT -> null;
      case HTTP_PROTOBUF -> OtlpHttpMetricExporter.builder().setProxyOptions(proxyOptions())
          .setEndpoint(httpEndpoint(otel.metricsEndpoint(), otel.endpoint(), config.endpoint(),
              "/v1/metrics"))
          .build();
      case GRPC -> OtlpGrpcMetricExporter.builder().setEndpoint(
          grpcEndpoint(otel.metricsEndpoint(), otel.endpoint(), config.endpoint())).build();
    };
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
   * A signal's own endpoint is used as it is; the common one gets the signal's path appended.
   *
   * @param configured gets the path only if it has none
   */
  static String httpEndpoint(String own, String common, String configured, String path) {
    if (!own.isEmpty()) {
      return withScheme(own);
    }
    if (!common.isEmpty()) {
      String base = withScheme(common);
      return (base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + path;
    }
    String url = withScheme(configured);
    String given = URI.create(url).getPath();
    return given.isEmpty() || given.equals("/") ? URI.create(url).resolve(path).toString() : url;
  }

  static String grpcEndpoint(String own, String common, String configured) {
    return withScheme(own.isEmpty() ? common.isEmpty() ? configured : common : own);
  }

  /** As in Knative, host and port alone mean TLS. */
  private static String withScheme(String url) {
    return url.contains("://") ? url : "https://" + url;
  }

  /** For HTTP only: a plain proxy does not forward gRPC. */
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
        // The exporter logs it and retries.
      }
    });
  }

  private static Proxy proxy(URI url) {
    int defaultPort = "https".equals(url.getScheme()) ? 443 : 80;
    // The client resolves it, again after each failure.
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

    private final LineWriter out;

    SpanLines(LineWriter out) {
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
