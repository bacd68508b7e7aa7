package dev.activator.observability;

import dev.activator.config.ObservabilityConfig.MetricsConfig;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * What an extension reads from the environment, and what takes precedence over the ConfigMap
 * {@code config-observability}.
 *
 * @param service the name of the service in metrics and traces
 * @param attributes further attributes of this process
 * @param metrics makes the settings for metrics from those of the ConfigMap
 */
public record TelemetryOverrides(String service, Map<String, String> attributes,
    UnaryOperator<MetricsConfig> metrics) {
  public static final TelemetryOverrides NONE = new TelemetryOverrides("activator", Map.of(),
      UnaryOperator.identity());
}
