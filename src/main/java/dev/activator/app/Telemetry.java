package dev.activator.app;

import dev.activator.config.LiveSettings;
import dev.activator.config.ObservabilityConfig;
import dev.activator.loop.LoopDelay;
import dev.activator.observability.Exporters;
import dev.activator.observability.Observability;
import java.util.List;

/** Begins to measure, log and trace as the ConfigMap says, and follows it while it changes. */
public record Telemetry(Observability observability, LiveSettings<ObservabilityConfig> settings,
    Exporters exporters, List<LoopDelay> loops) {

  /** The settings were delivered, and no request has come. */
  public void start() {
    settings.follow(now -> observability.use(now, exporters));
    loops.forEach(LoopDelay::start);
  }

  /** The last request is over. */
  public void stop() {
    loops.forEach(LoopDelay::stop);
    observability.close();
  }
}
