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
    var first = settings.get();
    observability.start(first, otel, identity);
    settings.onChange((_, now) -> observability.changed(now));
    // What was delivered in between was told to nobody.
    if (!settings.get().equals(first)) {
      observability.changed(settings.get());
    }
    loops.forEach(LoopDelay::start);
  }

  /** The last request is over. */
  void stop() {
    loops.forEach(LoopDelay::stop);
    observability.close();
  }
}
