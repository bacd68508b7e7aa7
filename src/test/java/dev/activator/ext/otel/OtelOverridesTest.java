package dev.activator.ext.otel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ParsedSettings;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OtelOverridesTest {
  @Test
  @DisplayName("OTEL_* are all optional, and an empty one is as good as none")
  void allAreOptional() {
    assertThat(OtelOverrides.parse(Map.of("PATH", "/bin")))
        .isEqualTo(new ParsedSettings.Valid<>(OtelOverrides.NONE));
    assertThat(OtelOverrides.parse(Map.of("OTEL_SERVICE_NAME", "", "OTEL_TRACES_SAMPLER", " ")))
        .isEqualTo(new ParsedSettings.Valid<>(OtelOverrides.NONE));
    assertThat(OtelOverrides.NONE.serviceName()).isEqualTo("activator");
  }

  @Test
  @DisplayName("OTEL_* are read")
  void areRead() {
    assertThat(OtelOverrides.parse(Map.of("OTEL_SERVICE_NAME", "front",
        "OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
        "http://metrics:4318/m", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces:4318/t",
        "OTEL_METRIC_EXPORT_INTERVAL", "1500", "OTEL_TRACES_SAMPLER", "parentbased_traceidratio",
        "OTEL_TRACES_SAMPLER_ARG", "0.5")))
        .isEqualTo(new ParsedSettings.Valid<>(new OtelOverrides("front", "http://all:4318",
            "http://metrics:4318/m", "http://traces:4318/t", Duration.ofMillis(1500),
            "parentbased_traceidratio", "0.5")));
  }

  @ParameterizedTest(name = "{0}={1} is refused")
  @CsvSource({"OTEL_METRIC_EXPORT_INTERVAL, 60s", "OTEL_METRIC_EXPORT_INTERVAL, -1",
      "OTEL_TRACES_SAMPLER, sometimes"})
  void refusesABadValueAndNamesIt(String name, String value) {
    assertThat(OtelOverrides.parse(Map.of(name, value))).isInstanceOfSatisfying(
        ParsedSettings.Invalid.class,
        invalid -> assertThat(invalid.line())
            .startsWith(name + " is '" + value + "', but must be"));
  }

  @ParameterizedTest(name = "OTEL_TRACES_SAMPLER_ARG={0} is none where no sampler is named")
  @ValueSource(strings = {"half", "0x1", "1d", "1.5.1", "-"})
  void passesOverAnArgumentThatStandsForNoRate(String argument) {
    assertThat(OtelOverrides.parse(Map.of("OTEL_TRACES_SAMPLER_ARG", argument)))
        .isEqualTo(new ParsedSettings.Valid<>(OtelOverrides.NONE));
  }

  @ParameterizedTest(name = "OTEL_TRACES_SAMPLER_ARG={0} is a rate where no sampler is named")
  @ValueSource(strings = {"0.25", "1.5", "-0.1"})
  void takesAnArgumentAloneForTheRate(String argument) {
    assertThat(OtelOverrides.parse(Map.of("OTEL_TRACES_SAMPLER_ARG", argument)))
        .isInstanceOfSatisfying(ParsedSettings.Valid.class, valid -> assertThat(valid.settings())
            .extracting("samplerArgument").isEqualTo(argument));
  }

  @Test
  void keepsThePasswordOfAnEndpointThatIsNone() {
    var variables = Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:s3cret@collector:port");

    assertThat(OtelOverrides.parse(variables)).isInstanceOfSatisfying(ParsedSettings.Invalid.class,
        invalid -> assertThat(invalid.line()).contains("'http://collector:port'"));
  }

  @Test
  @DisplayName("OTEL_TRACES_SAMPLER_ARG may be anything for a sampler that needs none")
  void passesOverAnUnknownArgument() {
    assertThat(OtelOverrides.parse(
        Map.of("OTEL_TRACES_SAMPLER", "always_on", "OTEL_TRACES_SAMPLER_ARG", "x")))
        .isInstanceOf(ParsedSettings.Valid.class);
  }

  @ParameterizedTest(name = "an endpoint {0} is taken")
  @ValueSource(strings = {"http://collector:4318", "https://c.example/in/here", "collector:4317",
      "collector", "http://[::1]:4318/", "http://me:secret@host:1"})
  void takesEndpointsAsPeopleWriteThem(String endpoint) {
    assertThat(OtelOverrides.parse(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)))
        .isInstanceOf(ParsedSettings.Valid.class);
  }

  @ParameterizedTest(name = "an endpoint {0} is refused")
  @ValueSource(strings = {"a b", "ftp://collector", "http://", "http://collector:port",
      "http://:4318", "collector:4318:1"})
  void refusesEndpointsThatAreNone(String endpoint) {
    for (var name : new String[]{"OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}) {
      assertThat(OtelOverrides.parse(Map.of(name, endpoint)))
          .isEqualTo(new ParsedSettings.Invalid<>(java.util.List.of(name + " is not valid: it is '"
              + endpoint + "', but must be a URL such as http://collector:4318")));
    }
  }

  @Test
  void refusesAnArgumentThatIsNoRatioWhereOneIsNeeded() {
    assertThat(OtelOverrides
        .parse(Map.of("OTEL_TRACES_SAMPLER", "traceidratio", "OTEL_TRACES_SAMPLER_ARG", "half")))
        .isEqualTo(new ParsedSettings.Invalid<>(java.util.List
            .of("OTEL_TRACES_SAMPLER_ARG is 'half', but must be a number from 0 to 1")));
  }
}
