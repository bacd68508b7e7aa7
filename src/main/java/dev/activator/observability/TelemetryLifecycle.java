package dev.activator.observability;

import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig;
import dev.activator.template.GoTemplateException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts requests if the ConfigMap config-observability enables metrics, and switches the request log.
 *
 * <p><b>Threads.</b> Any may call.
 */
public final class TelemetryLifecycle implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TelemetryLifecycle.class);

  private final RequestObservers observers;
  private final RequestMeters requestMeters;
  private final AsyncLineWriter out;
  private final RequestLog requestLog;
  private boolean started;
  private boolean logs;
  private volatile boolean scraped;

  public TelemetryLifecycle(RequestObservers observers, RequestMeters requestMeters,
      AsyncLineWriter out) {
    this.observers = observers;
    this.requestMeters = requestMeters;
    this.out = out;
    this.requestLog = new RequestLog(out);
  }

  /**
   * Applies settings. The first call, before the first request, decides what is measured. Later
   * calls change only the request log.
   */
  public synchronized void use(ObservabilityConfig config, TelemetryOverrides overrides) {
    if (!started) {
      started = true;
      start(overrides.metrics().apply(config.metrics()));
    }
    log(config.requestLog());
  }

  private void start(MetricsConfig metrics) {
    if (metrics.protocol() != ExportProtocol.NONE) {
      observers.add(requestMeters);
    }
    scraped = metrics.protocol() == ExportProtocol.PROMETHEUS;
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
      log.error(
          "logging.request-log-template cannot be used, so the request log stays as it was: {}",
          e.getMessage());
    }
  }

  public boolean isScraped() {
    return scraped;
  }

  @Override
  public void close() {
    out.close();
  }
}
