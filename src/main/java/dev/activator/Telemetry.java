package dev.activator;

import dev.activator.config.LiveSettings;
import dev.activator.config.ObservabilityConfig;
import dev.activator.config.OtelVariables;
import dev.activator.loop.LoopDelay;
import dev.activator.observability.Identity;
import dev.activator.observability.Observability;
import java.util.List;

/** Begins to measure, log and trace as the ConfigMap says, and follows it while it changes. */
record Telemetry(Observability observability, LiveSettings<ObservabilityConfig> settings,
    OtelVariables otel, Identity identity, List<LoopDelay> loops) {

  /** The settings were delivered, and no request has come. */
  void start() {
    observability.start(settings.get(), otel, identity);
    settings.onChange((_, now) -> observability.changed(now));
    loops.forEach(LoopDelay::start);
  }

  /** The last request is over. */
  void stop() {
    loops.forEach(LoopDelay::stop);
    observability.close();
  }
}
