package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.SpellingSuggester;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

class UnknownSettingsTest {
  private static List<String> inVariables(Map<String, String> variables) {
    var environment = new StandardEnvironment();
    var sources = environment.getPropertySources();
    sources.forEach(source -> sources.remove(source.getName()));
    sources.addLast(
        new SystemEnvironmentPropertySource("systemEnvironment", new HashMap<>(variables)));
    return UnknownSettings.in(environment);
  }

  @ParameterizedTest(name = "{0} is named, and {1} as the nearest")
  @CsvSource({"ACTIVATOR_SERVING_QUEUECAPCITY, ACTIVATOR_SERVING_QUEUECAPACITY",
      "ACTIVATOR_SERVING_QUEUE_CAPCITY, ACTIVATOR_SERVING_QUEUE_CAPACITY",
      "activator_port_http, ACTIVATOR_PORT_HTTP1", "ACTIVATOR_PORT_HTTP, ACTIVATOR_PORT_HTTP1",
      "ACTIVATER_PORT_H2C, ACTIVATOR_PORT_H2C"})
  void namesAVariableThatNothingReads(String variable, String nearest) {
    assertThat(inVariables(Map.of(variable, "1"))).containsExactly(
        variable + " is set, but there is no such setting; the nearest is " + nearest);
  }

  @Test
  void namesNoOtherWhereNoneIsNear() {
    assertThat(inVariables(Map.of("ACTIVATOR_COLOUR", "red"))).containsExactly(
        "ACTIVATOR_COLOUR is set, but there is no such setting; --dry-run shows those there are");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ACTIVATOR_MODE", "ACTIVATOR_COMMIT", "ACTIVATOR_TLS_MIN_VERSION",
      "ACTIVATOR_TLS_CURVE_PREFERENCES", "ACTIVATOR_SERVING_QUEUECAPACITY",
      "ACTIVATOR_SERVING_QUEUE_CAPACITY", "activator_serving_queuecapacity", "POD_NAME", "PATH",
      "ACTIVATOR", "METRICS_DOMAIN"})
  void passesOverWhatIsReadOrIsNotOurs(String variable) {
    assertThat(inVariables(Map.of(variable, "1"))).isEmpty();
  }

  @Test
  void passesOverWhatKubernetesSaysOfServices() {
    // given what the kubelet sets for the Services activator-service and activator
    var links = Map.of("ACTIVATOR_SERVICE_SERVICE_HOST", "10.96.0.7",
        "ACTIVATOR_SERVICE_SERVICE_PORT", "80", "ACTIVATOR_SERVICE_SERVICE_PORT_HTTP2", "81",
        "ACTIVATOR_SERVICE_PORT", "tcp://10.96.0.7:80", "ACTIVATOR_SERVICE_PORT_80_TCP_ADDR",
        "10.96.0.7", "ACTIVATOR_SERVICE_HOST", "10.96.0.8", "ACTIVATOR_PORT",
        "tcp://10.96.0.8:80", "ACTIVATOR_PORT_80_TCP", "tcp://10.96.0.8:80");

    assertThat(inVariables(links)).isEmpty();
  }

  @Test
  void namesWhatAFileSays() {
    var environment = new StandardEnvironment();
    environment.getPropertySources().addFirst(new MapPropertySource("a file",
        Map.of("activator.sevring.queue-capacity", "1", "activator.serving.queueCapacity", "1",
            "activator.probe.frequency", "1s", "other.activator.x", "1")));

    assertThat(UnknownSettings.in(environment))
        .containsExactly("activator.sevring.queue-capacity is set, but there is no such setting;"
            + " the nearest is activator.serving.queue-capacity");
  }

  @ParameterizedTest(name = "from {0} to {1}: {2}")
  @CsvSource({"'', '', 0", "'', abc, 3", "kitten, sitting, 3", "http1, http1, 0", "ab, ba, 2"})
  void countsTheLettersThatDiffer(String one, String other, int distance) {
    assertThat(SpellingSuggester.distance(one, other)).isEqualTo(distance);
    assertThat(SpellingSuggester.distance(other, one)).isEqualTo(distance);
  }
}
