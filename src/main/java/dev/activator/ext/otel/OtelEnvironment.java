package dev.activator.ext.otel;

import dev.activator.config.ParsedSettings;
import dev.activator.config.SettingsParser;
import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.TracingConfig;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The variables {@code OTEL_*} of the environment: their values, and which of them have no effect.
 *
 * <p><b>Source.</b> "OTLP exporter configuration" and "Environment variable specification" of OpenTelemetry.
 *
 * @param set the variables that are not blank
 */
public record OtelEnvironment(SortedMap<String, String> set) {
  static final OtelEnvironment NONE = new OtelEnvironment(new TreeMap<>());
  private static final String OTLP = "OTEL_EXPORTER_OTLP_";
  private static final String DISABLED = "OTEL_SDK_DISABLED";
  private static final String RESOURCE = "OTEL_RESOURCE_ATTRIBUTES";
  private static final String PROPAGATORS = "OTEL_PROPAGATORS";
  private static final String EXEMPLARS = "OTEL_METRICS_EXEMPLAR_FILTER";
  private static final String TRACES_EXPORTER = "OTEL_TRACES_EXPORTER";
  private static final String METRICS_EXPORTER = "OTEL_METRICS_EXPORTER";
  private static final String LOGS_EXPORTER = "OTEL_LOGS_EXPORTER";

  private static final Map<String, ExportProtocol> PROTOCOLS = new TreeMap<>(
      Map.of("grpc", ExportProtocol.GRPC, "http/protobuf", ExportProtocol.HTTP_PROTOBUF));
  /** Variables whose value must be one of these words. */
  private static final Map<String, List<String>> WORDS = words();
  private static final List<String> COUNTS = counts();
  private static final List<String> FLAGS = Stream.concat(Stream.of(DISABLED),
      perSignal("INSECURE")).toList();
  private static final List<String> PAIRS = Stream.concat(Stream.of(RESOURCE),
      perSignal("HEADERS")).toList();
  private static final List<String> FILES = Stream.of("CERTIFICATE", "CLIENT_KEY",
      "CLIENT_CERTIFICATE").flatMap(OtelEnvironment::perSignal).toList();
  private static final List<String> KNOWN_PROPAGATORS = List.of("tracecontext", "baggage", "none");
  /** Settings of the metrics exporter that cannot be changed. */
  private static final Map<String, String> FIXED = Map.of(
      OTLP + "METRICS_TEMPORALITY_PREFERENCE", "cumulative",
      OTLP + "METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram");
  private static final Pattern PAIR = Pattern.compile("\\s*[^=,\\s]+\\s*=[^,]*");

  public enum Signal {
    TRACES,
    METRICS,
    LOGS
  }

  private static Stream<String> perSignal(String end) {
    return Stream.concat(Stream.of(OTLP + end),
        Stream.of(Signal.values()).map(signal -> OTLP + signal + "_" + end));
  }

  private static Map<String, List<String>> words() {
    var words = new HashMap<String, List<String>>();
    perSignal("PROTOCOL").forEach(name -> words.put(name, List.copyOf(PROTOCOLS.keySet())));
    perSignal("COMPRESSION").forEach(name -> words.put(name, List.of("gzip", "none")));
    words.put(TRACES_EXPORTER, List.of("otlp", "console", "none"));
    words.put(METRICS_EXPORTER, List.of("otlp", "prometheus", "none"));
    words.put(LOGS_EXPORTER, List.of("otlp", "none"));
    words.put(EXEMPLARS, List.of("trace_based", "always_on", "always_off"));
    return words;
  }

  private static List<String> counts() {
    var counts = new ArrayList<>(perSignal("TIMEOUT").toList());
    for (var processor : List.of("OTEL_BSP_", "OTEL_BLRP_")) {
      Stream.of("SCHEDULE_DELAY", "EXPORT_TIMEOUT", "MAX_QUEUE_SIZE", "MAX_EXPORT_BATCH_SIZE")
          .forEach(end -> counts.add(processor + end));
    }
    for (var limited : List.of("OTEL_", "OTEL_SPAN_", "OTEL_LOGRECORD_")) {
      counts.add(limited + "ATTRIBUTE_VALUE_LENGTH_LIMIT");
      counts.add(limited + "ATTRIBUTE_COUNT_LIMIT");
    }
    counts.addAll(List.of("OTEL_SPAN_EVENT_COUNT_LIMIT", "OTEL_SPAN_LINK_COUNT_LIMIT",
        "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT"));
    return counts;
  }

  /** @param environment the variables of {@link OtelOverrides} are checked there */
  public static ParsedSettings<OtelEnvironment> parse(Map<String, String> environment) {
    var set = new TreeMap<String, String>();
    environment.forEach((name, value) -> {
      if (name.startsWith("OTEL_") && !value.isBlank()) {
        set.put(name, value.strip());
      }
    });
    var entries = new SettingsParser(set);
    FLAGS.forEach(entries::flag);
    COUNTS.forEach(entries::count);
    WORDS.forEach((name, words) -> {
      var allowed = new TreeMap<String, String>();
      words.forEach(word -> allowed.put(word, word));
      entries.oneOf(name, "", allowed);
    });
    PAIRS.forEach(name -> entries.check(name, OtelEnvironment::badPair));
    entries.checkEndpoint(OTLP + "LOGS_ENDPOINT");
    return ParsedSettings.of(entries.problems(), () -> new OtelEnvironment(set));
  }

  /** The problem of a list of pairs. Does not repeat the value, which may be a secret. */
  private static @Nullable String badPair(String text) {
    int at = 1;
    for (var pair : text.split(",", -1)) {
      if (!pair.isBlank() && !PAIR.matcher(pair).matches()) {
        return "entry " + at + " is not name=value";
      }
      at++;
    }
    return null;
  }

  /**
   * The variables without effect, for a line of the log: each name, with the value if another value
   * would have an effect.
   */
  public List<String> withoutEffect() {
    var known = new TreeSet<>(OtelOverrides.NAMES);
    Stream.of(COUNTS, FLAGS, PAIRS, FILES, WORDS.keySet()).forEach(known::addAll);
    known.add(OTLP + "LOGS_ENDPOINT");
    known.add(PROPAGATORS);
    var without = new ArrayList<String>();
    set.forEach((name, value) -> {
      if (FIXED.containsKey(name)
          ? !FIXED.get(name).equalsIgnoreCase(value)
          : !known.contains(name)) {
        without.add(FIXED.containsKey(name) ? name + "=" + value : name);
      }
    });
    propagatorWords().filter(word -> !KNOWN_PROPAGATORS.contains(word))
        .forEach(word -> without.add(PROPAGATORS + "=" + word));
    return without;
  }

  private Stream<String> propagatorWords() {
    return Stream.of(text(PROPAGATORS).split(",")).map(String::strip)
        .filter(word -> !word.isEmpty());
  }

  private String text(String name) {
    return set.getOrDefault(name, "");
  }

  /** The value of a signal's own variable, or else of the one for all signals. */
  private String text(Signal signal, String end) {
    var own = text(OTLP + signal + "_" + end);
    return own.isEmpty() ? text(OTLP + end) : own;
  }

  private boolean flag(String name) {
    return new SettingsParser(set).flag(name);
  }

  public String logsEndpoint() {
    return text(OTLP + "LOGS_ENDPOINT");
  }

  /** Whether an endpoint without a scheme is used without TLS. */
  public boolean isInsecure(Signal signal) {
    return flag(set.containsKey(OTLP + signal + "_INSECURE")
        ? OTLP + signal + "_INSECURE"
        : OTLP + "INSECURE");
  }

  /** The resource attributes of the process. */
  public SortedMap<String, String> resourceAttributes() {
    var all = new TreeMap<String, String>();
    for (var pair : text(RESOURCE).split(",")) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        all.put(pair.substring(0, equals).strip(),
            percentDecoded(pair.substring(equals + 1).strip()));
      }
    }
    return all;
  }

  /** Decodes percent signs. Unlike in form data, a plus stays a plus. */
  private static String percentDecoded(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return text;
    }
  }

  public List<String> propagators() {
    var words = propagatorWords().toList();
    return words.isEmpty() ? List.of("tracecontext", "baggage") : words;
  }

  /** Which requests metrics refer to by exemplars: sampled ones, all, or none. */
  public Exemplars exemplars() {
    return switch (text(EXEMPLARS)) {
      case "always_on" -> Exemplars.ALL;
      case "always_off" -> Exemplars.NONE;
      default -> Exemplars.SAMPLED;
    };
  }

  public enum Exemplars {
    NONE,
    SAMPLED,
    ALL
  }

  /** A duration in milliseconds, like all durations of OpenTelemetry. */
  public Duration duration(String name, Duration absent) {
    return set.containsKey(name) ? Duration.ofMillis(count(name, 0)) : absent;
  }

  public int count(String name, int absent) {
    return set.containsKey(name) ? new SettingsParser(set).count(name) : absent;
  }

  private ExportProtocol protocol(Signal signal, ExportProtocol configured) {
    return PROTOCOLS.getOrDefault(text(signal, "PROTOCOL"),
        configured.pushes() ? configured : ExportProtocol.HTTP_PROTOBUF);
  }

  /** The settings for metrics, given those of the ConfigMap. */
  public MetricsConfig metrics(MetricsConfig configured) {
    var chosen = switch (text(METRICS_EXPORTER)) {
      case "none" -> MetricsConfig.NONE;
      case "prometheus" -> new MetricsConfig(ExportProtocol.PROMETHEUS, "", Duration.ZERO);
      case "otlp" -> pushed(configured);
      default -> configured.protocol().pushes() ? pushed(configured) : configured;
    };
    return chosen.protocol().pushes() && flag(DISABLED) ? MetricsConfig.NONE : chosen;
  }

  private MetricsConfig pushed(MetricsConfig configured) {
    boolean pushes = configured.protocol().pushes();
    return new MetricsConfig(protocol(Signal.METRICS, configured.protocol()),
        pushes ? configured.endpoint() : "", configured.interval());
  }

  /** The settings for traces, given those of the ConfigMap. */
  public TracingConfig tracing(TracingConfig configured) {
    if (flag(DISABLED)) {
      return TracingConfig.NONE;
    }
    return switch (text(TRACES_EXPORTER)) {
      case "none" -> TracingConfig.NONE;
      case "console" -> new TracingConfig(ExportProtocol.STDOUT, "", configured.samplingRate());
      case "otlp" -> pushed(configured);
      default -> configured.protocol().pushes() ? pushed(configured) : configured;
    };
  }

  private TracingConfig pushed(TracingConfig configured) {
    // If the ConfigMap does not enable traces, the default sampler of the specification applies:
    // all requests, unless the caller has decided.
    boolean traces = configured.protocol() != ExportProtocol.NONE;
    return new TracingConfig(protocol(Signal.TRACES, configured.protocol()),
        configured.protocol().pushes() ? configured.endpoint() : "",
        traces ? configured.samplingRate() : 1);
  }

  /** The protocol for logs; {@link ExportProtocol#NONE} if the log is not pushed. */
  public ExportProtocol logs() {
    return text(LOGS_EXPORTER).equals("otlp") && !flag(DISABLED)
        ? protocol(Signal.LOGS, ExportProtocol.NONE)
        : ExportProtocol.NONE;
  }
}
