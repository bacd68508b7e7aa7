package dev.activator.ext.profiling;

import static dev.activator.app.BoundSettings.bind;
import static dev.activator.app.BoundSettings.line;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProfilingPropertiesTest {
  private static int port(Map<String, String> variables) {
    return bind("activator.profiling", ProfilingProperties.class, variables).port();
  }

  @Test
  void portIsThatOfTheVariable() {
    assertThat(port(Map.of())).isEqualTo(8008);
    assertThat(port(Map.of("PROFILING_PORT", ""))).isEqualTo(8008);
    assertThat(port(Map.of("PROFILING_PORT", "8009"))).isEqualTo(8009);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {
      "eighty | PROFILING_PORT is 'eighty', but must be a whole number",
      "70000 | PROFILING_PORT is 70000, but a port is 0 to 65535"})
  void refusesWhatIsNoPort(String value, String expected) {
    assertThat(line("activator.profiling", ProfilingProperties.class,
        Map.of("PROFILING_PORT", value))).isEqualTo(expected);
  }
}
