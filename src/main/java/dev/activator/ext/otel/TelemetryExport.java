package dev.activator.ext.otel;

import dev.activator.config.ObservabilityConfig;
import dev.activator.observability.AsyncLineWriter;
import dev.activator.observability.Meters;
import dev.activator.observability.RequestObservers;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.TracingConfig;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Traces, and metrics and log lines that are pushed, as the settings at the start enable them.
 *
 * <p><b>Threads.</b> Any may call.
 */
final class TelemetryExport implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TelemetryExport.class);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);

  private final RequestObservers observers;
  private final Meters meters;
  private final AsyncLineWriter out;
  private final Clock clock;
  private @Nullable SdkTracerProvider traces;
  private @Nullable SdkMeterProvider pushed;
  private @Nullable OtlpLogAppender logLines;

  TelemetryExport(RequestObservers observers, Meters meters, AsyncLineWriter out, Clock clock) {
    this.observers = observers;
    this.meters = meters;
    this.out = out;
    this.clock = clock;
  }

  /** Call once, before the first request. */
  synchronized void start(ObservabilityConfig config, TelemetryExporters exporters) {
    var environment = exporters.environment();
    push(environment.metrics(config.metrics()), exporters);
    trace(environment.tracing(config.tracing()), exporters);
    logLines = OtlpLogAppender.start(exporters);
  }

  private void push(MetricsConfig config, TelemetryExporters exporters) {
    var exporter = exporters.of(config);
    if (exporter == null) {
      return;
    }
    var own = exporters.otel().metricInterval();
    var interval = own.isZero() ? config.pushInterval() : own;
    pushed = SdkMeterProvider.builder().setResource(exporters.resource())
        .registerMetricProducer(new OtelMetricProducer(meters, clock))
        .registerMetricReader(
            PeriodicMetricReader.builder(exporter).setInterval(interval).build())
        .build();
    log.info("Metrics are pushed by {} every {} s", config.protocol(), interval.toSeconds());
  }

  private void trace(TracingConfig config, TelemetryExporters exporters) {
    var exporter = exporters.of(config, out);
    if (exporter == null) {
      return;
    }
    var provider = SdkTracerProvider.builder().setResource(exporters.resource())
        .setSampler(exporters.sampler(config)).setSpanLimits(exporters.spanLimits())
        .addSpanProcessor(exporters.batched(exporter)).build();
    traces = provider;
    observers.add(new RequestTracer(provider, exporters.propagator(),
        exporters.environment().exemplars(), clock));
    log.info("Requests are traced by {}", config.protocol());
  }

  @Override
  public synchronized void close() {
    if (traces != null) {
      traces.shutdown().join(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    }
    if (pushed != null) {
      pushed.shutdown().join(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    }
    if (logLines != null) {
      logLines.close();
      logLines = null;
    }
  }
}
