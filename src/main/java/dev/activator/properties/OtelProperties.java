package dev.activator.properties;

import dev.activator.config.OtelVariables;
import dev.activator.config.Parsed;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What OpenTelemetry's own variables say; they win over the ConfigMap. Empty for what that says.
 *
 * @param serviceName under which metrics and traces are filed; {@code OTEL_SERVICE_NAME}
 * @param endpoint where metrics and traces are sent; {@code OTEL_EXPORTER_OTLP_ENDPOINT}
 * @param metricsEndpoint where metrics are sent; {@code OTEL_EXPORTER_OTLP_METRICS_ENDPOINT}
 * @param tracesEndpoint where traces are sent; {@code OTEL_EXPORTER_OTLP_TRACES_ENDPOINT}
 * @param metricInterval milliseconds from one push of metrics to the next; {@code
 *     OTEL_METRIC_EXPORT_INTERVAL}
 * @param sampler which requests are traced; {@code OTEL_TRACES_SAMPLER}
 * @param samplerArgument what the sampler needs, such as a ratio; {@code OTEL_TRACES_SAMPLER_ARG}
 */
@ConfigurationProperties("activator.otel")
public record OtelProperties(@DefaultValue("activator") String serviceName,
    @DefaultValue("") String endpoint, @DefaultValue("") String metricsEndpoint,
    @DefaultValue("") String tracesEndpoint, @DefaultValue("") String metricInterval,
    @DefaultValue("") String sampler, @DefaultValue("") String samplerArgument) {

  public OtelProperties {
    if (parsed(metricInterval, sampler,
        samplerArgument) instanceof Parsed.Invalid<OtelVariables> invalid) {
      throw new IllegalArgumentException(invalid.line());
    }
  }

  private static Parsed<OtelVariables> parsed(String interval, String sampler, String argument) {
    return OtelVariables.parse(Map.of("OTEL_METRIC_EXPORT_INTERVAL", interval,
        "OTEL_TRACES_SAMPLER", sampler, "OTEL_TRACES_SAMPLER_ARG", argument));
  }

  /** The same, as those who export take it. */
  public OtelVariables variables() {
    return switch (parsed(metricInterval, sampler, samplerArgument)) {
      case Parsed.Valid<OtelVariables>(var checked) -> new OtelVariables(serviceName, endpoint,
          metricsEndpoint, tracesEndpoint, checked.metricInterval(), sampler, samplerArgument);
      case Parsed.Invalid<OtelVariables> impossible ->
        throw new IllegalStateException(impossible.line());
    };
  }
}
