package dev.activator.ext.otel;

import dev.activator.config.ParsedSettings;
import dev.activator.config.SettingsParser;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The values of OpenTelemetry's environment variables that override the ConfigMap. An empty text
 * or zero overrides nothing.
 *
 * <p><b>Source.</b> "Environment Variable Specification": an empty variable counts as unset.
 *
 * @param samplerArgument such as {@code 0.25}
 */
public record OtelOverrides(String serviceName, String endpoint, String metricsEndpoint,
    String tracesEndpoint, Duration metricInterval, String sampler, String samplerArgument) {

  public static final OtelOverrides NONE = new OtelOverrides("activator", "", "", "",
      Duration.ZERO, "", "");

  private static final String SERVICE_NAME = "OTEL_SERVICE_NAME";
  private static final String ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";
  private static final String METRICS_ENDPOINT = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";
  private static final String TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  private static final String METRIC_INTERVAL = "OTEL_METRIC_EXPORT_INTERVAL";
  private static final String SAMPLER = "OTEL_TRACES_SAMPLER";
  private static final String SAMPLER_ARGUMENT = "OTEL_TRACES_SAMPLER_ARG";

  public static final List<String> NAMES = List.of(SERVICE_NAME, ENDPOINT, METRICS_ENDPOINT,
      TRACES_ENDPOINT, METRIC_INTERVAL, SAMPLER, SAMPLER_ARGUMENT);

  private static final Map<String, String> SAMPLERS = new TreeMap<>(
      Stream.of("always_on", "always_off", "traceidratio", "parentbased_always_on",
          "parentbased_always_off", "parentbased_traceidratio")
          .collect(Collectors.toMap(name -> name, name -> name)));

  public static ParsedSettings<OtelOverrides> parse(Map<String, String> environment) {
    var set = new TreeMap<>(environment);
    set.values().removeIf(String::isBlank);
    var entries = new SettingsParser(set);
    int millis = entries.count(METRIC_INTERVAL);
    var sampler = entries.oneOf(SAMPLER, "", SAMPLERS);
    if (sampler.endsWith("traceidratio")) {
      entries.fraction(SAMPLER_ARGUMENT);
    } else if (sampler.isEmpty() && !entries.isNumber(SAMPLER_ARGUMENT)) {
      // Dropped, because it would override the rate of the ConfigMap.
      set.remove(SAMPLER_ARGUMENT);
    }
    List.of(ENDPOINT, METRICS_ENDPOINT, TRACES_ENDPOINT)
        .forEach(entries::checkEndpoint);
    return ParsedSettings.of(entries.problems(),
        () -> new OtelOverrides(entries.text(SERVICE_NAME, NONE.serviceName),
            entries.text(ENDPOINT, ""), entries.text(METRICS_ENDPOINT, ""),
            entries.text(TRACES_ENDPOINT, ""), Duration.ofMillis(millis), sampler,
            entries.text(SAMPLER_ARGUMENT, "")));
  }
}
