package dev.activator.config;

import dev.activator.template.GoTemplateParser;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The settings of the ConfigMap {@code config-observability}.
 *
 * <p><b>Source.</b> {@code pkg/observability/config.go} of Knative Serving; one invalid entry
 * invalidates the map.
 *
 * @param requestLog the template; empty while disabled
 */
public record ObservabilityConfig(Optional<String> requestLog, MetricsConfig metrics,
    TracingConfig tracing, Profiling profiling)
    implements ConfigMapSettings.Content<ObservabilityConfig> {

  /** The template if the request log is enabled without one. */
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

  public static final ObservabilityConfig DEFAULT = new ObservabilityConfig(Optional.empty(),
      MetricsConfig.NONE, TracingConfig.NONE, Profiling.DISABLED);

  public static ConfigMapSettings<ObservabilityConfig> live(String name) {
    return new ConfigMapSettings<>(name, DEFAULT, ObservabilityConfig::parse);
  }

  public static ParsedSettings<ObservabilityConfig> parse(Map<String, String> data) {
    var entries = new SettingsParser(data);
    var requestLog = requestLog(entries);
    var metrics = MetricsConfig.read(entries, "");
    var tracing = TracingConfig.read(entries);
    var profiling = Profiling.read(entries);
    checkTheRest(entries);
    return ParsedSettings.of(entries.problems(),
        () -> new ObservabilityConfig(requestLog, metrics, tracing, profiling));
  }

  private static Optional<String> requestLog(SettingsParser entries) {
    boolean enabled = entries.flag(ENABLE);
    var template = entries.text(TEMPLATE, DEFAULT_TEMPLATE);
    if (enabled && template.isEmpty()) {
      entries.problem(TEMPLATE + " is empty, but " + ENABLE + " is true");
    }
    if (!template.isEmpty()) {
      entries.check(TEMPLATE, GoTemplateParser::problem);
    }
    return enabled ? Optional.of(template) : Optional.empty();
  }

  /** Checks keys that are not used here. Invalid values of them also make the map invalid. */
  private static void checkTheRest(SettingsParser entries) {
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
    metrics.addTo(entries);
    tracing.addTo(entries);
    entries.put(Profiling.KEY, profiling.name().toLowerCase(Locale.ROOT));
    return entries;
  }

  public enum ExportProtocol {
    NONE("none"),
    /** OTLP. */
    GRPC("grpc"),
    /** OTLP. */
    HTTP_PROTOBUF("http/protobuf"),
    /** Metrics only. */
    PROMETHEUS("prometheus"),
    /** Traces only. */
    STDOUT("stdout");

    private final String word;

    ExportProtocol(String word) {
      this.word = word;
    }

    public boolean pushes() {
      return this == GRPC || this == HTTP_PROTOBUF;
    }

    private static Map<String, ExportProtocol> words(ExportProtocol... known) {
      var words = new LinkedHashMap<String, ExportProtocol>();
      List.of(known).forEach(protocol -> words.put(protocol.word, protocol));
      return words;
    }
  }

  /**
   * @param endpoint the URL to push to; for Prometheus {@code host:port} to listen on, or empty
   * @param interval zero means a minute
   */
  public record MetricsConfig(ExportProtocol protocol, String endpoint, Duration interval) {
    public static final MetricsConfig NONE = new MetricsConfig(ExportProtocol.NONE, "",
        Duration.ZERO);

    private static final Map<String, ExportProtocol> PROTOCOLS = ExportProtocol.words(
        ExportProtocol.GRPC,
        ExportProtocol.HTTP_PROTOBUF, ExportProtocol.NONE, ExportProtocol.PROMETHEUS);
    private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(60);

    public Duration pushInterval() {
      return interval.isZero() ? DEFAULT_INTERVAL : interval;
    }

    private static MetricsConfig read(SettingsParser entries, String prefix) {
      var key = prefix + "metrics-protocol";
      var metrics = new MetricsConfig(entries.oneOf(key, ExportProtocol.NONE, PROTOCOLS),
          entries.text(prefix + "metrics-endpoint", ""),
          entries.duration(prefix + "metrics-export-interval", Duration.ZERO));
      if (metrics.protocol.pushes() && metrics.endpoint.isEmpty()) {
        entries.problem(prefix + "metrics-endpoint is missing, which " + key + " "
            + entries.text(key, "") + " needs");
      }
      if (metrics.protocol.pushes() && prefix.isEmpty()) {
        entries.checkEndpoint("metrics-endpoint");
      }
      if (metrics.protocol == ExportProtocol.NONE && !metrics.endpoint.isEmpty()
          && entries.text(key, "none").equals("none")) {
        entries.problem(prefix + "metrics-endpoint is '" + metrics.endpoint + "', but " + key
            + " is none");
      }
      return metrics;
    }

    private void addTo(Map<String, String> entries) {
      entries.put("metrics-protocol", protocol.word);
      if (!endpoint.isEmpty()) {
        entries.put("metrics-endpoint", endpoint);
      }
      if (protocol.pushes()) {
        entries.put("metrics-export-interval", GoDuration.print(pushInterval()));
      }
    }
  }

  /** @param endpoint the URL to push to; otherwise empty */
  public record TracingConfig(ExportProtocol protocol, String endpoint, double samplingRate) {
    public static final TracingConfig NONE = new TracingConfig(ExportProtocol.NONE, "", 0);

    private static final Map<String, ExportProtocol> PROTOCOLS = ExportProtocol.words(
        ExportProtocol.GRPC,
        ExportProtocol.HTTP_PROTOBUF, ExportProtocol.NONE, ExportProtocol.STDOUT);

    private static TracingConfig read(SettingsParser entries) {
      var protocol = entries.oneOf("tracing-protocol", ExportProtocol.NONE, PROTOCOLS);
      var endpoint = entries.text("tracing-endpoint", "");
      var word = entries.text("tracing-protocol", "none");
      if (protocol.pushes() && endpoint.isEmpty()) {
        entries.problem("tracing-endpoint is missing, which tracing-protocol " + word + " needs");
      }
      if (!protocol.pushes() && !endpoint.isEmpty() && PROTOCOLS.containsKey(word)) {
        entries.problem("tracing-endpoint is '" + endpoint + "', but tracing-protocol is " + word);
      }
      if (protocol.pushes()) {
        entries.checkEndpoint("tracing-endpoint");
      }
      return new TracingConfig(protocol, endpoint, entries.fraction("tracing-sampling-rate"));
    }

    private void addTo(Map<String, String> entries) {
      entries.put("tracing-protocol", protocol.word);
      if (protocol.pushes()) {
        entries.put("tracing-endpoint", endpoint);
      }
      if (protocol != ExportProtocol.NONE) {
        entries.put("tracing-sampling-rate", String.valueOf(samplingRate));
      }
    }
  }

  public enum Profiling {
    ENABLED,
    DISABLED;

    private static final String KEY = "runtime-profiling";
    private static final Map<String, Profiling> WORDS = new TreeMap<>(
        Map.of("enabled", ENABLED, "disabled", DISABLED));

    /** Reads this key even if other keys make the map invalid. */
    public static ParsedSettings<Profiling> parse(Map<String, String> data) {
      var entries = new SettingsParser(data);
      var profiling = read(entries);
      return ParsedSettings.of(entries.problems(), () -> profiling);
    }

    private static Profiling read(SettingsParser entries) {
      return entries.oneOf(KEY, DISABLED, WORDS);
    }
  }
}
