package dev.activator.observability.trace;

import dev.activator.config.MetricsConfig;
import dev.activator.config.OtelVariables;
import dev.activator.config.Proxies;
import dev.activator.config.TracingConfig;
import dev.activator.observability.log.LineWriter;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.metrics.OtlpGrpcMetricExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.common.export.ProxyOptions;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import org.jspecify.annotations.Nullable;

/** By which way traces and metrics leave the process. */
public final class Exporters {
  private Exporters() {}

  /**
   * Of traces; null for none.
   *
   * @param out for those that go to standard output
   */
  public static @Nullable SpanExporter of(TracingConfig config, OtelVariables otel,
      Proxies proxies, LineWriter out) {
    return switch (config.protocol()) {
      case NONE -> null;
      case STDOUT -> new SpanLines(out);
      case HTTP_PROTOBUF -> OtlpHttpSpanExporter.builder().setProxy(through(proxies))
          .setEndpoint(OtlpEndpoint
              .http(otel.tracesEndpoint(), otel.endpoint(), config.endpoint(), "/v1/traces"))
          .build();
      case GRPC -> OtlpGrpcSpanExporter.builder().setEndpoint(
          OtlpEndpoint.grpc(otel.tracesEndpoint(), otel.endpoint(), config.endpoint())).build();
    };
  }

  /** Of metrics; null where they are fetched, or there are none. */
  public static @Nullable MetricExporter of(MetricsConfig config, OtelVariables otel,
      Proxies proxies) {
    return switch (config.protocol()) {
      case NONE, PROMETHEUS -> null;
      case HTTP_PROTOBUF -> OtlpHttpMetricExporter.builder().setProxyOptions(through(proxies))
          .setEndpoint(OtlpEndpoint
              .http(otel.metricsEndpoint(), otel.endpoint(), config.endpoint(), "/v1/metrics"))
          .build();
      case GRPC -> OtlpGrpcMetricExporter.builder().setEndpoint(
          OtlpEndpoint.grpc(otel.metricsEndpoint(), otel.endpoint(), config.endpoint())).build();
    };
  }

  /** For HTTP only: what speaks HTTP/2 from the first byte on goes through no plain proxy. */
  private static ProxyOptions through(Proxies proxies) {
    return ProxyOptions.create(new EgressRoutes(proxies));
  }
}
