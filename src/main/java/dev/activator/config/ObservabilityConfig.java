package dev.activator.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the ConfigMap {@code config-observability} says that concerns us.
 *
 * <p>
 * <b>Source.</b> {@code pkg/observability/config.go} of Knative Serving, which takes the map as a
 * whole or not at all.
 *
 * @param requestLog the template of a line a request; empty while there is to be no such log
 * @param metrics how metrics leave the process
 * @param tracing how traces do
 * @param profiling whether the profiling port answers
 */
public record ObservabilityConfig(Optional<String> requestLog, MetricsConfig metrics,
    TracingConfig tracing, Profiling profiling) implements MapSettings<ObservabilityConfig> {

  /** The template of a map that enables the log and has none of its own. */
  public static final String DEFAULT_TEMPLATE = """
      {"httpRequest": {"requestMethod": "{{.Request.Method}}", \
      "requestUrl": "{{js .Request.RequestURI}}", \
      "requestSize": "{{.Request.ContentLength}}", "status": {{.Response.Code}}, \
      "responseSize": "{{.Response.Size}}", "userAgent": "{{js .Request.UserAgent}}", \
      "remoteIp": "{{js .Request.RemoteAddr}}", "serverIp": "{{.Revision.PodIP}}", \
      "referer": "{{js .Request.Referer}}", "latency": "{{.Response.Latency}}s", \
      "protocol": "{{.Request.Proto}}"}, "traceId": "{{.TraceID}}"}""";

  private static final String ENABLE = "logging.enable-request-log";
  private static final String TEMPLATE = "logging.request-log-template";

  /** What an empty map means. */
  public static final ObservabilityConfig DEFAULT = new ObservabilityConfig(Optional.empty(),
      MetricsConfig.NONE, TracingConfig.NONE, Profiling.DISABLED);

  /** Those of a map that was not delivered yet. */
  public static LiveSettings<ObservabilityConfig> live(String name) {
    return new LiveSettings<>(name, DEFAULT, ObservabilityConfig::parse);
  }

  /** Reads the map. */
  public static Parsed<ObservabilityConfig> parse(Map<String, String> data) {
    var entries = new Entries(data);
    var requestLog = requestLog(entries);
    var metrics = MetricsConfig.read(entries, "");
    var tracing = TracingConfig.read(entries);
    var profiling = Profiling.read(entries);
    checkTheRest(entries);
    return Parsed.of(entries.problems(),
        () -> new ObservabilityConfig(requestLog, metrics, tracing, profiling));
  }

  private static Optional<String> requestLog(Entries entries) {
    boolean enabled = entries.flag(ENABLE);
    var template = entries.text(TEMPLATE, DEFAULT_TEMPLATE);
    if (enabled && template.isEmpty()) {
      entries.problem(TEMPLATE + " is empty, but " + ENABLE + " is true");
    }
    if (!template.isEmpty()) {
      entries.check(TEMPLATE, GoTemplate::problem);
    }
    return enabled ? Optional.of(template) : Optional.empty();
  }

  /**
   * What is meant for others, but makes the map invalid for all components alike: the queue-proxy's,
   * and how often Go's runtime is looked at. Ours is looked at whenever somebody reads.
   */
  private static void checkTheRest(Entries entries) {
    entries.duration("runtime-export-interval", Duration.ZERO);
    MetricsConfig.read(entries, "request-");
    entries.flag("logging.enable-probe-request-log");
    entries.flag("logging.enable-var-log-collection");
  }

  @Override
  public List<String> needRestart(ObservabilityConfig next) {
    var needed = new ArrayList<String>();
    if (!metrics.equals(next.metrics)) {
      needed.add("metrics-*");
    }
    if (!tracing.equals(next.tracing)) {
      needed.add("tracing-*");
    }
    return needed;
  }

  @Override
  public SortedMap<String, String> entries() {
    var entries = new TreeMap<String, String>();
    entries.put(ENABLE, String.valueOf(requestLog.isPresent()));
    requestLog.ifPresent(template -> entries.put(TEMPLATE, template));
    entries.putAll(metrics.entries());
    entries.putAll(tracing.entries());
    entries.putAll(profiling.entries());
    return entries;
  }
}
