package dev.activator.ext.otel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ParsedSettings;
import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.TracingConfig;
import dev.activator.ext.otel.OtelEnvironment.Signal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OtelEnvironmentTest {
  private static final Pattern NAME = Pattern.compile("`(OTEL_[A-Z_]+[A-Z])`");
  private static final String URL = "http://collector";

  /** @param text such as {@code A=1 B=2} */
  private static Map<String, String> variables(String text) {
    var all = new HashMap<String, String>();
    for (var one : text.isEmpty() ? new String[0] : text.split(" ")) {
      all.put(one.substring(0, one.indexOf('=')), one.substring(one.indexOf('=') + 1));
    }
    return all;
  }

  private static OtelEnvironment environment(String text) {
    return switch (OtelEnvironment.parse(variables(text))) {
      case ParsedSettings.Valid<OtelEnvironment>(var valid) -> valid;
      case ParsedSettings.Invalid<OtelEnvironment> invalid ->
        throw new AssertionError(invalid.line());
    };
  }

  @ParameterizedTest(name = "{0}, ConfigMap {1}: {2}")
  @CsvSource(nullValues = "-", value = {"'', NONE, NONE -", "'', PROMETHEUS, PROMETHEUS -",
      "'', GRPC, GRPC http://collector",
      "OTEL_EXPORTER_OTLP_PROTOCOL=grpc, PROMETHEUS, PROMETHEUS -",
      "OTEL_EXPORTER_OTLP_PROTOCOL=grpc, HTTP_PROTOBUF, GRPC http://collector",
      "OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/protobuf, GRPC,"
          + " HTTP_PROTOBUF http://collector",
      "OTEL_METRICS_EXPORTER=none, GRPC, NONE -", "OTEL_METRICS_EXPORTER=none, PROMETHEUS, NONE -",
      "OTEL_METRICS_EXPORTER=prometheus, NONE, PROMETHEUS -",
      "OTEL_METRICS_EXPORTER=otlp, NONE, HTTP_PROTOBUF -",
      "OTEL_METRICS_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc, PROMETHEUS, GRPC -",
      "OTEL_SDK_DISABLED=true, GRPC, NONE -", "OTEL_SDK_DISABLED=true, PROMETHEUS, PROMETHEUS -",
      "OTEL_SDK_DISABLED=false, GRPC, GRPC http://collector"})
  void saysWhatIsDoneWithMetrics(String set, ExportProtocol configured, String expected) {
    var config = new MetricsConfig(configured, configured.pushes() ? URL : "",
        Duration.ofSeconds(9));

    var chosen = environment(set).metrics(config);

    assertThat(chosen.protocol() + " " + (chosen.endpoint().isEmpty() ? "-" : chosen.endpoint()))
        .isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}, ConfigMap {1}: {2} at {3}")
  @CsvSource({"'', NONE, NONE, 0", "'', GRPC, GRPC, 0.1", "'', STDOUT, STDOUT, 0.1",
      "OTEL_TRACES_EXPORTER=none, GRPC, NONE, 0", "OTEL_TRACES_EXPORTER=console, GRPC, STDOUT, 0.1",
      "OTEL_TRACES_EXPORTER=otlp, NONE, HTTP_PROTOBUF, 1",
      "OTEL_TRACES_EXPORTER=otlp, GRPC, GRPC, 0.1",
      "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc, HTTP_PROTOBUF, GRPC, 0.1",
      "OTEL_SDK_DISABLED=true, GRPC, NONE, 0", "OTEL_SDK_DISABLED=true, STDOUT, NONE, 0"})
  void saysHowRequestsAreTraced(String set, ExportProtocol configured, ExportProtocol expected,
      double rate) {
    var config = configured == ExportProtocol.NONE
        ? TracingConfig.NONE
        : new TracingConfig(configured, configured.pushes() ? URL : "", 0.1);

    var chosen = environment(set).tracing(config);

    assertThat(chosen.protocol()).isEqualTo(expected);
    assertThat(chosen.samplingRate()).isEqualTo(rate);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"'', NONE", "OTEL_LOGS_EXPORTER=none, NONE", "OTEL_LOGS_EXPORTER=otlp, HTTP_PROTOBUF",
      "OTEL_LOGS_EXPORTER=otlp OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=grpc, GRPC",
      "OTEL_LOGS_EXPORTER=otlp OTEL_SDK_DISABLED=true, NONE"})
  void pushesTheLogOnly_whenRequested(String set, ExportProtocol expected) {
    assertThat(environment(set).logs()).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}={1}: {2}")
  @CsvSource(delimiter = '|', value = {
      "OTEL_SDK_DISABLED|yes|OTEL_SDK_DISABLED is 'yes', but must be true or false",
      "OTEL_EXPORTER_OTLP_TIMEOUT|10s|OTEL_EXPORTER_OTLP_TIMEOUT is '10s', but must be a whole number, 0 or more",
      "OTEL_EXPORTER_OTLP_LOGS_TIMEOUT|-1|OTEL_EXPORTER_OTLP_LOGS_TIMEOUT is '-1', but must be a whole number, 0 or more",
      "OTEL_EXPORTER_OTLP_PROTOCOL|http/json|OTEL_EXPORTER_OTLP_PROTOCOL is 'http/json', but must be one of grpc, http/protobuf",
      "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION|zstd|OTEL_EXPORTER_OTLP_METRICS_COMPRESSION is 'zstd', but must be one of gzip, none",
      "OTEL_EXPORTER_OTLP_INSECURE|maybe|OTEL_EXPORTER_OTLP_INSECURE is 'maybe', but must be true or false",
      "OTEL_TRACES_EXPORTER|zipkin|OTEL_TRACES_EXPORTER is 'zipkin', but must be one of console, none, otlp",
      "OTEL_BSP_MAX_QUEUE_SIZE|many|OTEL_BSP_MAX_QUEUE_SIZE is 'many', but must be a whole number, 0 or more",
      "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT|-5|OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT is '-5', but must be a whole number, 0 or more",
      "OTEL_RESOURCE_ATTRIBUTES|a=1,b|OTEL_RESOURCE_ATTRIBUTES is not valid: entry 2 is not name=value",
      "OTEL_EXPORTER_OTLP_HEADERS|s3cret|OTEL_EXPORTER_OTLP_HEADERS is not valid: entry 1 is not name=value",
      "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT|http://a b|OTEL_EXPORTER_OTLP_LOGS_ENDPOINT is not valid: it is 'http://a b', but must be a URL such as http://collector:4318"})
  void refusesABadValueAndNamesIt(String name, String value, String line) {
    assertThat(OtelEnvironment.parse(Map.of(name, value))).isInstanceOfSatisfying(
        ParsedSettings.Invalid.class, invalid -> assertThat(invalid.line()).isEqualTo(line));
  }

  @Test
  void readsResourceAttributes() {
    assertThat(environment("OTEL_RESOURCE_ATTRIBUTES=a=1,b.c=x%2Cy,,d=").resourceAttributes())
        .isEqualTo(Map.of("a", "1", "b.c", "x,y", "d", ""));
    assertThat(OtelEnvironment.NONE.resourceAttributes()).isEmpty();
  }

  @Test
  void isInsecureForOneSignalOrAll() {
    var one = environment(
        "OTEL_EXPORTER_OTLP_INSECURE=true OTEL_EXPORTER_OTLP_TRACES_INSECURE=false");

    assertThat(one.isInsecure(Signal.METRICS)).isTrue();
    assertThat(one.isInsecure(Signal.TRACES)).isFalse();
    assertThat(OtelEnvironment.NONE.isInsecure(Signal.LOGS)).isFalse();
  }

  @Test
  void namesVariablesWithoutEffect() {
    assertThat(environment("OTEL_EXPORTER_OTLP_HEADERS=a=b OTEL_SERVICE_NAME=x OTEL_LOG_LEVEL=debug"
        + " OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta OTEL_PROPAGATORS=baggage,b3"
        + " OTEL_EXPORTER_OTPL_ENDPOINT=http://typo").withoutEffect())
        .containsExactly("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta",
            "OTEL_EXPORTER_OTPL_ENDPOINT", "OTEL_LOG_LEVEL", "OTEL_PROPAGATORS=b3");
    assertThat(environment("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=cumulative"
        + " OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION=explicit_bucket_histogram")
        .withoutEffect()).isEmpty();
  }

  /** The table in operations says of each variable whether it has an effect. */
  @Test
  void theTableOfVariablesSaysWhichHaveNoEffect() throws Exception {
    var page = Files.readString(Path.of("docs", "operations.md"));
    var section = page.substring(page.indexOf("### OpenTelemetry's variables"));
    section = section.substring(0, section.indexOf("\n## "));
    var rows = section.lines().filter(line -> line.startsWith("| ") && line.contains("`OTEL_"))
        .toList();

    assertThat(rows).hasSizeGreaterThan(10).allSatisfy(row -> {
      assertThat(names(row)).isNotEmpty().allSatisfy(name -> assertThat(
          new OtelEnvironment(new TreeMap<>(Map.of(name, "x"))).withoutEffect().contains(name))
          .isEqualTo(row.contains("| no effect")));
    });
    assertThat(rows.stream().flatMap(OtelEnvironmentTest::names)).hasSizeGreaterThan(20);
  }

  private static Stream<String> names(String row) {
    return NAME.matcher(row.split("\\|")[1]).results().map(name -> name.group(1));
  }
}
