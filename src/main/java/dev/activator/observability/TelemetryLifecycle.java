package dev.activator.observability;

import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig;

/**
 * Counts requests if the ConfigMap config-observability enables metrics.
 *
 * <p><b>Threads.</b> Any may call.
 */
public final class TelemetryLifecycle implements AutoCloseable {
  private final RequestObservers observers;
  private final RequestMeters requestMeters;
  private final AsyncLineWriter out;
  private boolean started;
  private volatile boolean scraped;

  public TelemetryLifecycle(RequestObservers observers, RequestMeters requestMeters,
      AsyncLineWriter out) {
    this.observers = observers;
    this.requestMeters = requestMeters;
    this.out = out;
  }

  /**
   * Applies settings. The first call, before the first request, decides what is measured.
   */
  public synchronized void use(ObservabilityConfig config, TelemetryOverrides overrides) {
    if (!started) {
      started = true;
      start(overrides.metrics().apply(config.metrics()));
    }
  }

  private void start(MetricsConfig metrics) {
    if (metrics.protocol() != ExportProtocol.NONE) {
      observers.add(requestMeters);
    }
    scraped = metrics.protocol() == ExportProtocol.PROMETHEUS;
  }

  public boolean isScraped() {
    return scraped;
  }

  @Override
  public void close() {
    out.close();
  }
}
