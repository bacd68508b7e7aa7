package dev.activator.ext.otel;

import dev.activator.config.ParsedSettings;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * OpenTelemetry's own variables. They take precedence over the ConfigMap; empty ones have no
 * effect.
 *
 * @param serviceName the name of the service in metrics and traces
 * @param endpoint where metrics and traces are sent
 * @param metricsEndpoint where metrics are sent
 * @param tracesEndpoint where traces are sent
 * @param metricInterval milliseconds between two pushes of metrics
 * @param sampler which requests are traced
 * @param samplerArgument the argument of the sampler, such as a ratio
 */
@ConfigurationProperties("activator.otel")
public record OtelProperties(@DefaultValue("activator") String serviceName,
    @DefaultValue("") String endpoint, @DefaultValue("") String metricsEndpoint,
    @DefaultValue("") String tracesEndpoint, @DefaultValue("") String metricInterval,
    @DefaultValue("") String sampler, @DefaultValue("") String samplerArgument) {

  public OtelProperties {
    if (OtelOverrides.parse(named(serviceName, endpoint, metricsEndpoint, tracesEndpoint,
        metricInterval, sampler,
        samplerArgument)) instanceof ParsedSettings.Invalid<OtelOverrides> invalid) {
      throw new IllegalArgumentException(invalid.line());
    }
  }

  /** The values by the names of the variables, whose order is that of the record. */
  private static Map<String, String> named(String... values) {
    var all = new HashMap<String, String>();
    for (int i = 0; i < values.length; i++) {
      all.put(OtelOverrides.NAMES.get(i), values[i]);
    }
    return all;
  }

  public OtelOverrides variables() {
    return switch (OtelOverrides.parse(named(serviceName, endpoint, metricsEndpoint,
        tracesEndpoint, metricInterval, sampler, samplerArgument))) {
      case ParsedSettings.Valid<OtelOverrides>(var checked) -> checked;
      case ParsedSettings.Invalid<OtelOverrides> impossible ->
        throw new IllegalStateException(impossible.line());
    };
  }
}
