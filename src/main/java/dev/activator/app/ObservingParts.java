package dev.activator.app;

import dev.activator.config.LiveSettings;
import dev.activator.config.ObservabilityConfig;
import dev.activator.lifecycle.Part;

/** What shows people and their tools what the activator does. */
record ObservingParts(ProfilingServer profiling, MetricsEndpoint endpoint, Telemetry measuring,
    LiveSettings<ObservabilityConfig> settings) {

  Part profilingPort() {
    return new Part("profiling port", profiling::start, profiling::stop);
  }

  Part metricsPort() {
    return new Part("metrics port", () -> endpoint.open(settings.get().metrics()),
        endpoint::close);
  }

  Part telemetry() {
    return new Part("telemetry", measuring::start, measuring::stop);
  }
}
