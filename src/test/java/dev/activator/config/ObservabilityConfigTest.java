package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.Profiling;
import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.TracingConfig;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ObservabilityConfigTest {
  /** A template is good here unless it is empty braces. */
  private static final String ENABLE = "logging.enable-request-log";
  private static final String TEMPLATE = "logging.request-log-template";

  @Test
  @DisplayName("an empty map means the defaults")
  void anEmptyMapMeansTheDefaults() {
    assertThat(parse(Map.of())).isEqualTo(new ObservabilityConfig(Optional.empty(),
        new MetricsConfig(ExportProtocol.NONE, "", Duration.ZERO),
        new TracingConfig(ExportProtocol.NONE, "", 0), Profiling.DISABLED));
    assertThat(parse(Map.of("_example", "metrics-protocol: nonsense")))
        .isEqualTo(ObservabilityConfig.DEFAULT);
  }

  @Test
  @DisplayName("a template alone does not switch the log on")
  void aTemplateAloneDoesNotSwitchTheLogOn() {
    assertThat(parse(Map.of(TEMPLATE, "{{.Request.URL}}")).requestLog()).isEmpty();
  }

  @Test
  @DisplayName("the switch and a template do")
  void theSwitchAndATemplateDo() {
    assertThat(parse(Map.of(ENABLE, "true", TEMPLATE, "{{.Request.URL}}")).requestLog())
        .contains("{{.Request.URL}}");
  }

  /** A block of YAML ends with a line end. */
  @Test
  void readsTexts_withoutTheBlanksAndLineEndsAroundThem() {
    assertThat(parse(Map.of("metrics-protocol", "grpc\n", "metrics-endpoint", " collector:4317\n",
        "tracing-protocol", "http/protobuf\n", "tracing-endpoint", "http://collector:4318\n",
        "runtime-profiling", "enabled\n", ENABLE, "true", TEMPLATE, "\n{{.Request.URL}}\n")))
        .isEqualTo(new ObservabilityConfig(Optional.of("{{.Request.URL}}"),
            new MetricsConfig(ExportProtocol.GRPC, "collector:4317", Duration.ZERO),
            new TracingConfig(ExportProtocol.HTTP_PROTOBUF, "http://collector:4318", 0),
            Profiling.ENABLED));
  }

  @Test
  void theSwitchAloneTakesTheUsualTemplate() {
    assertThat(parse(Map.of(ENABLE, "true")).requestLog())
        .contains(ObservabilityConfig.DEFAULT_TEMPLATE);
    assertThat(ObservabilityConfig.DEFAULT_TEMPLATE)
        .startsWith("{\"httpRequest\": {\"requestMethod\": \"{{.Request.Method}}\", \"requestUrl\"")
        .endsWith("\"{{.Request.Proto}}\"}, \"traceId\": \"{{.TraceID}}\"}")
        .doesNotContain("\n");
  }

  @Test
  @DisplayName("a switch that is off wins over a template")
  void aSwitchThatIsOffWinsOverATemplate() {
    assertThat(parse(Map.of(ENABLE, "false", TEMPLATE, "{{.Request.URL}}")).requestLog())
        .isEmpty();
  }

  @Test
  @DisplayName("the log without a template makes the map invalid")
  void theLogWithoutATemplateMakesTheMapInvalid() {
    assertThat(problemsOf(Map.of(ENABLE, "true", TEMPLATE, "")))
        .isEqualTo(TEMPLATE + " is empty, but " + ENABLE + " is true");
    assertThat(parse(Map.of(TEMPLATE, "")).requestLog()).isEmpty();
  }

  @ParameterizedTest(name = "a broken template is refused while the log is {0}")
  @CsvSource({"true", "false"})
  void aBrokenTemplateIsRefusedWhetherItIsUsedOrNot(String on) {
    assertThat(problemsOf(Map.of(ENABLE, on, TEMPLATE, "{{}}")))
        .isEqualTo(TEMPLATE
            + " is not valid: missing value for command, at line 1, column 1 of the template");
  }

  @ParameterizedTest(name = "metrics-protocol {0}")
  @CsvSource({"none, '', NONE", "prometheus, '', PROMETHEUS",
      "prometheus, 0.0.0.0:9095, PROMETHEUS", "grpc, collector:4317, GRPC",
      "http/protobuf, http://collector:4318/v1/metrics, HTTP_PROTOBUF"})
  void readsHowMetricsLeave(String protocol, String endpoint, ExportProtocol expected) {
    var data = new LinkedHashMap<>(Map.of("metrics-protocol", protocol,
        "metrics-export-interval", "30s"));
    if (!endpoint.isEmpty()) {
      data.put("metrics-endpoint", endpoint);
    }
    assertThat(parse(data).metrics())
        .isEqualTo(new MetricsConfig(expected, endpoint, Duration.ofSeconds(30)));
  }

  @Test
  @DisplayName("metrics-export-interval 0 stands for a minute")
  void noIntervalStandsForAMinute() {
    assertThat(MetricsConfig.NONE.pushInterval()).isEqualTo(Duration.ofSeconds(60));
    assertThat(parse(Map.of("metrics-export-interval", "1m30s")).metrics().pushInterval())
        .isEqualTo(Duration.ofSeconds(90));
  }

  @ParameterizedTest(name = "tracing-protocol {0}")
  @CsvSource({"none, '', NONE", "stdout, '', STDOUT", "grpc, collector:4317, GRPC",
      "http/protobuf, http://collector:4318, HTTP_PROTOBUF"})
  void readsHowTracesLeave(String protocol, String endpoint, ExportProtocol expected) {
    assertThat(parse(Map.of("tracing-protocol", protocol, "tracing-endpoint", endpoint,
        "tracing-sampling-rate", "0.25")).tracing())
        .isEqualTo(new TracingConfig(expected, endpoint, 0.25));
  }

  @ParameterizedTest(name = "tracing-sampling-rate {0}")
  @CsvSource({"0, 0", "1, 1", "0.1, 0.1", "1e-3, 0.001", ".5, 0.5"})
  void readsTheSamplingRate(String text, double rate) {
    assertThat(parse(Map.of("tracing-sampling-rate", text)).tracing().samplingRate())
        .isEqualTo(rate);
  }

  @Test
  @DisplayName("runtime-export-interval is checked, and is nothing to go by")
  void goesByNoRuntimeInterval() {
    var said = parse(Map.of("runtime-export-interval", "1m"));
    assertThat(said).isEqualTo(ObservabilityConfig.DEFAULT);
    assertThat(ObservabilityConfig.DEFAULT.needRestart(said)).isEmpty();
  }

  @ParameterizedTest(name = "{0} makes the map invalid")
  @CsvSource(delimiter = '|', value = {
      "metrics-protocol=statsd | metrics-protocol is 'statsd', but must be one of grpc, http/protobuf, none, prometheus",
      "metrics-protocol= | metrics-protocol is '', but must be one of grpc, http/protobuf, none, prometheus",
      "metrics-protocol=grpc | metrics-endpoint is missing, which metrics-protocol grpc needs",
      "metrics-protocol=http/protobuf | metrics-endpoint is missing, which metrics-protocol http/protobuf needs",
      "metrics-endpoint=x:1 | metrics-endpoint is 'x:1', but metrics-protocol is none",
      "metrics-protocol=none,metrics-endpoint=x:1 | metrics-endpoint is 'x:1', but metrics-protocol is none",
      "metrics-export-interval=-1s | metrics-export-interval is '-1s', but must be a duration such as 30s, and not negative",
      "metrics-export-interval=30 | metrics-export-interval is '30', but must be a duration such as 30s, and not negative",
      "metrics-protocol=grpc,metrics-endpoint=a b | metrics-endpoint is not valid: it is 'a b', but must be a URL such as http://collector:4318",
      "tracing-protocol=grpc,tracing-endpoint=ftp://a | tracing-endpoint is not valid: it is 'ftp://a', but must be a URL such as http://collector:4318",
      "request-metrics-protocol=x | request-metrics-protocol is 'x', but must be one of grpc, http/protobuf, none, prometheus",
      "request-metrics-protocol=grpc | request-metrics-endpoint is missing, which request-metrics-protocol grpc needs",
      "request-metrics-export-interval=1d | request-metrics-export-interval is '1d', but must be a duration such as 30s, and not negative",
      "tracing-protocol=zipkin | tracing-protocol is 'zipkin', but must be one of grpc, http/protobuf, none, stdout",
      "tracing-protocol=grpc | tracing-endpoint is missing, which tracing-protocol grpc needs",
      "tracing-protocol=stdout,tracing-endpoint=x:1 | tracing-endpoint is 'x:1', but tracing-protocol is stdout",
      "tracing-endpoint=x:1 | tracing-endpoint is 'x:1', but tracing-protocol is none",
      "tracing-sampling-rate=1.1 | tracing-sampling-rate is '1.1', but must be a number from 0 to 1",
      "tracing-sampling-rate=-0.1 | tracing-sampling-rate is '-0.1', but must be a number from 0 to 1",
      "tracing-sampling-rate=10% | tracing-sampling-rate is '10%', but must be a number from 0 to 1",
      "tracing-sampling-rate=1d | tracing-sampling-rate is '1d', but must be a number from 0 to 1",
      "runtime-profiling=on | runtime-profiling is 'on', but must be one of disabled, enabled",
      "runtime-profiling=Enabled | runtime-profiling is 'Enabled', but must be one of disabled, enabled",
      "runtime-export-interval=-15s | runtime-export-interval is '-15s', but must be a duration such as 30s, and not negative",
      "logging.enable-request-log=yes | logging.enable-request-log is 'yes', but must be true or false",
      "logging.enable-probe-request-log=yes | logging.enable-probe-request-log is 'yes', but must be true or false",
      "logging.enable-var-log-collection=yes | logging.enable-var-log-collection is 'yes', but must be true or false"})
  void refusesTheMapForOneBadValueAndNamesIt(String entries, String problem) {
    var data = new LinkedHashMap<String, String>();
    for (var entry : entries.split(",")) {
      data.put(entry.substring(0, entry.indexOf('=')), entry.substring(entry.indexOf('=') + 1));
    }
    assertThat(problemsOf(data)).isEqualTo(problem);
  }

  @Test
  @DisplayName("the profiling switch is read on its own")
  void theProfilingSwitchIsReadOnItsOwn() {
    var data = Map.of("runtime-profiling", "enabled", "metrics-protocol", "nonsense");
    assertThat(problemsOf(data)).contains("metrics-protocol");
    assertThat(Profiling.parse(data)).isEqualTo(new ParsedSettings.Valid<>(Profiling.ENABLED));
    assertThat(Profiling.parse(Map.of())).isEqualTo(new ParsedSettings.Valid<>(Profiling.DISABLED));
  }

  @Test
  @DisplayName("the request log and profiling are live, the rest needs a new start")
  void saysWhatNeedsANewStart() {
    var before = parse(Map.of());
    assertThat(before
        .needRestart(parse(Map.of(ENABLE, "true", "runtime-profiling", "enabled")))).isEmpty();
    assertThat(before.needRestart(parse(Map.of("metrics-protocol", "prometheus",
        "tracing-protocol", "stdout"))))
        .containsExactly("metrics-*", "tracing-*");
  }

  @Test
  void saysWhatTakesEffectByTheKeysThatSayIt() {
    assertThat(ObservabilityConfig.DEFAULT.entries()).isEqualTo(
        Map.of(ENABLE, "false", "metrics-protocol", "none", "tracing-protocol", "none",
            "runtime-profiling", "disabled"));
    // a length of 0 stands for a minute, and a template counts only while there is a log
    assertThat(parse(Map.of(ENABLE, "T", TEMPLATE, "{{.TraceID}}", "metrics-protocol", "grpc",
        "metrics-endpoint", "collector:4317", "metrics-export-interval", "0", "tracing-protocol",
        "stdout", "tracing-sampling-rate", ".5", "runtime-profiling", "enabled")).entries())
        .isEqualTo(Map.of(ENABLE, "true", TEMPLATE, "{{.TraceID}}", "metrics-protocol", "grpc",
            "metrics-endpoint", "collector:4317", "metrics-export-interval", "1m",
            "tracing-protocol", "stdout", "tracing-sampling-rate", "0.5", "runtime-profiling",
            "enabled"));
  }

  private static ObservabilityConfig parse(Map<String, String> data) {
    return switch (ObservabilityConfig.parse(data)) {
      case ParsedSettings.Valid<ObservabilityConfig>(var settings) -> settings;
      case ParsedSettings.Invalid<ObservabilityConfig> invalid ->
        throw new AssertionError(invalid.line());
    };
  }

  private static String problemsOf(Map<String, String> data) {
    return ObservabilityConfig
        .parse(data) instanceof ParsedSettings.Invalid<ObservabilityConfig> invalid
            ? invalid.line()
            : "none";
  }
}
