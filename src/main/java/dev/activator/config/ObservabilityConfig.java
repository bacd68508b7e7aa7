package dev.activator.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
 * @param runtimeInterval between two looks at the runtime's own metrics
 */
public record ObservabilityConfig(Optional<String> requestLog, MetricsConfig metrics,
    TracingConfig tracing, Profiling profiling, Duration runtimeInterval) {

  /** The template of a map that enables the log and has none of its own. */
  public static final String DEFAULT_TEMPLATE = """
      {"httpRequest": {"requestMethod": "{{.Request.Method}}", \
      "requestUrl": "{{js .Request.RequestURI}}", \
      "requestSize": "{{.Request.ContentLength}}", "status": {{.Response.Code}}, \
      "responseSize": "{{.Response.Size}}", "userAgent": "{{js .Request.UserAgent}}", \
      "remoteIp": "{{js .Request.RemoteAddr}}", "serverIp": "{{.Revision.PodIP}}", \
      "referer": "{{js .Request.Referer}}", "latency": "{{.Response.Latency}}s", \
      "protocol": "{{.Request.Proto}}"}, "traceId": "{{.TraceID}}"}""";

  private static final Duration RUNTIME_INTERVAL = Duration.ofSeconds(15);
  private static final String ENABLE = "logging.enable-request-log";
  private static final String TEMPLATE = "logging.request-log-template";

  /** What an empty map means. */
  public static final ObservabilityConfig DEFAULT = new ObservabilityConfig(Optional.empty(),
      MetricsConfig.NONE, TracingConfig.NONE, Profiling.DISABLED, RUNTIME_INTERVAL);

  /**
   * Reads the map.
   *
   * @param template says what is wrong with a template; null for nothing
   */
  public static Parsed<ObservabilityConfig> parse(Map<String, String> data,
      TemplateCheck template) {
    var entries = new Entries(data);
    var requestLog = requestLog(entries, template);
    var metrics = MetricsConfig.read(entries, "");
    var tracing = TracingConfig.read(entries);
    var profiling = Profiling.read(entries);
    var interval = entries.duration("runtime-export-interval", RUNTIME_INTERVAL);
    checkTheRest(entries);
    return Parsed.of(entries.problems(),
        () -> new ObservabilityConfig(requestLog, metrics, tracing, profiling, interval));
  }

  private static Optional<String> requestLog(Entries entries, TemplateCheck check) {
    boolean enabled = entries.flag(ENABLE);
    var template = entries.text(TEMPLATE, DEFAULT_TEMPLATE);
    if (enabled && template.isEmpty()) {
      entries.problem(TEMPLATE + " is empty, but " + ENABLE + " is true");
    }
    if (!template.isEmpty()) {
      entries.check(TEMPLATE, check::problem);
    }
    return enabled ? Optional.of(template) : Optional.empty();
  }

  /** What is meant for the queue-proxy, but makes the map invalid for all components alike. */
  private static void checkTheRest(Entries entries) {
    MetricsConfig.read(entries, "request-");
    entries.flag("logging.enable-probe-request-log");
    entries.flag("logging.enable-var-log-collection");
  }

  /** What the difference between two of them takes, that cannot be had without a new start. */
  public List<String> needRestart(ObservabilityConfig next) {
    var needed = new ArrayList<String>();
    if (!metrics.equals(next.metrics)) {
      needed.add("metrics-*");
    }
    if (!tracing.equals(next.tracing)) {
      needed.add("tracing-*");
    }
    if (!runtimeInterval.equals(next.runtimeInterval)) {
      needed.add("runtime-export-interval");
    }
    return needed;
  }
}
