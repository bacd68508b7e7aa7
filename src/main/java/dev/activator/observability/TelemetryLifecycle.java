package dev.activator.observability;

import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.TracingConfig;
import dev.activator.config.ObservabilityConfig;
import dev.activator.template.GoTemplateException;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the metrics, the traces and the pushed log that the ConfigMap config-observability
 * enables. Switches the request log.
 *
 * <p><b>Threads.</b> Any may call.
 */
public final class TelemetryLifecycle implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TelemetryLifecycle.class);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);

  private final RequestObservers observers;
  private final Meters meters;
  private final RequestMeters requestMeters;
  private final AsyncLineWriter out;
  private final RequestLog requestLog;
  private final Clock clock;
  private @Nullable SdkTracerProvider traces;
  private @Nullable SdkMeterProvider pushed;
  private @Nullable OtlpLogAppender logLines;
  private boolean started;
  private boolean logs;
  private boolean exports;
  private boolean countsForConsole;
  private volatile boolean scraped;

  public TelemetryLifecycle(RequestObservers observers, Meters meters, RequestMeters requestMeters,
      AsyncLineWriter out, Clock clock) {
    this.observers = observers;
    this.meters = meters;
    this.requestMeters = requestMeters;
    this.out = out;
    this.clock = clock;
    this.requestLog = new RequestLog(out);
  }

  /**
   * Applies settings. The first call, before the first request, decides what is measured and
   * traced. Later calls change only the request log.
   */
  public synchronized void use(ObservabilityConfig config, TelemetryExporters exporters) {
    if (!started) {
      started = true;
      start(config, exporters);
    }
    log(config.requestLog());
  }

  private void start(ObservabilityConfig config, TelemetryExporters exporters) {
    var environment = exporters.environment();
    var without = environment.withoutEffect();
    if (!without.isEmpty()) {
      log.warn("These variables have no effect: {}", String.join(", ", without));
    }
    var metrics = environment.metrics(config.metrics());
    if (metrics.protocol() != ExportProtocol.NONE) {
      exports = true;
      observers.remove(requestMeters);
      observers.add(requestMeters);
    }
    scraped = metrics.protocol() == ExportProtocol.PROMETHEUS;
    push(metrics, exporters);
    trace(environment.tracing(config.tracing()), exporters);
    logLines = OtlpLogAppender.start(exporters);
  }

  /** Counts requests for an open console, even if no metrics are exported. Idempotent. */
  public synchronized void startCounting() {
    if (!countsForConsole && !exports) {
      observers.add(requestMeters);
    }
    countsForConsole = true;
  }

  /**
   * Stops counting for the console. Unless metrics are exported, drops the counts, and requests no
   * longer have the cost.
   */
  public synchronized void stopCounting() {
    if (countsForConsole && !exports) {
      observers.remove(requestMeters);
      requestMeters.clear();
    }
    countsForConsole = false;
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

  public synchronized void log(Optional<String> template) {
    if (template.isPresent() && !logs) {
      // Added only when needed, because each observer costs every request some time.
      logs = true;
      observers.add(requestLog);
    }
    try {
      requestLog.use(template.isEmpty()
          ? Optional.empty()
          : Optional.of(RequestLog.template(template.get())));
    } catch (GoTemplateException e) {
      log.error("The template of the request log is invalid, and the previous one stays in use: {}",
          e.getMessage());
    }
  }

  public boolean isScraped() {
    return scraped;
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
    out.close();
  }
}
