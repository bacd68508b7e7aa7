package dev.activator.ext.otel;

import static dev.activator.app.BoundSettings.bind;
import static dev.activator.app.BoundSettings.line;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OtelPropertiesTest {
  private static OtelProperties bound(Map<String, String> variables) {
    return bind("activator.otel", OtelProperties.class, variables);
  }

  @Test
  @DisplayName("OTEL_* are handed on")
  void openTelemetry() {
    assertThat(bound(Map.of()).variables()).isEqualTo(OtelOverrides.NONE);
    assertThat(bound(
        Map.of("OTEL_SERVICE_NAME", "front", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318",
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "http://t", "OTEL_METRIC_EXPORT_INTERVAL", "1500", "OTEL_TRACES_SAMPLER",
            "traceidratio", "OTEL_TRACES_SAMPLER_ARG", "0.5"))
        .variables()).isEqualTo(new OtelOverrides("front", "http://c:4318", "http://m", "http://t",
            Duration.ofMillis(1500), "traceidratio", "0.5"));
  }

  @Test
  void anEmptyVariableIsAsGoodAsNone() {
    assertThat(OtelOverrides.NAMES)
        .allSatisfy(name -> assertThat(bound(Map.of(name, ""))).isEqualTo(bound(Map.of())));
  }

  @Test
  void everyVariableIsInTheTable() throws IOException {
    var doc = Files.readString(Path.of("docs", "configuration.md"));
    assertThat(OtelOverrides.NAMES)
        .allSatisfy(name -> assertThat(doc).contains(" (`" + name + "`) |\n"));
  }

  @ParameterizedTest(name = "{0}={1}")
  @CsvSource(delimiter = '|', value = {
      "OTEL_METRIC_EXPORT_INTERVAL | 1m | OTEL_METRIC_EXPORT_INTERVAL is '1m', but must be a whole number, 0 or more",
      "OTEL_EXPORTER_OTLP_ENDPOINT | a b | OTEL_EXPORTER_OTLP_ENDPOINT is not valid: it is 'a b', but must be a URL such as http://collector:4318",
      "OTEL_TRACES_SAMPLER | some | OTEL_TRACES_SAMPLER is 'some', but must be one of always_off, always_on, parentbased_always_off, parentbased_always_on, parentbased_traceidratio, traceidratio"})
  void saysInOneLineWhichIsWrong(String variable, String value, String expected) {
    assertThat(line("activator.otel", OtelProperties.class, Map.of(variable, value)))
        .isEqualTo(expected);
  }
}
