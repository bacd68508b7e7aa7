package dev.activator.ext.actuators.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Undecided;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WakeStateTest {
  private static final Instant NOW = Instant.parse("2030-01-01T00:10:00Z");

  @ParameterizedTest(name = "{0} since {1}: {2}")
  @CsvSource({"Running, 2030-01-01T00:09:00Z, 1", "Stopped, 2030-01-01T00:09:00Z, 0",
      "Running, 2030-01-01T00:11:00Z, 1", "Running, 2030-01-01T00:07:59Z, pods",
      "Stopped, 2030-01-01T00:07:59Z, pods", "Starting, 2030-01-01T00:09:59Z, pods",
      "Stopping, 2030-01-01T00:09:59Z, pods", "'', '', pods", "Running, never, pods",
      "Paused, 2030-01-01T00:09:00Z, pods"})
  void aRecentSuccessCounts_andPodsElse(String state, String since, String expected) {
    assertThat(WakeState.of(state, since).result("v", NOW)).isEqualTo(switch (expected) {
      case "1" -> new Found(1, 1, "v");
      case "0" -> new Found(0, 0, "v");
      default -> new Undecided("v");
    });
  }
}
