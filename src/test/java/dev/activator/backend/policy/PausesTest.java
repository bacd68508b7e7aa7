package dev.activator.backend.policy;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PausesTest {
  private final Pauses pauses = new Pauses(ofMillis(200));

  @ParameterizedTest(name = "after {0} failures: {1}")
  @CsvSource({"1, PT0.01S", "2, PT0.015S", "3, PT0.0225S", "8, PT0.170859375S", "9, PT0.2S",
      "150, PT0.2S", "151, PT0.3S", "152, PT0.45S", "154, PT1S", "2000000000, PT1S"})
  void growByHalfUpToTheFrequencyAndLaterToASecond(int failures, Duration pause) {
    assertThat(pauses.after(failures)).isEqualTo(pause);
  }

  @ParameterizedTest(name = "after {0} failures: {1}")
  @CsvSource({"1, PT0.2S", "2, PT0.3S", "20, PT30S"})
  void growToHalfAMinuteWhileTheClusterIpServes(int failures, Duration pause) {
    assertThat(pauses.viaClusterIp(failures)).isEqualTo(pause);
  }

  @ParameterizedTest(name = "after {0} failures: {1}")
  @CsvSource({"1, PT0.005S", "150, PT0.005S", "500, PT1S"})
  void neverPassAFrequencyBelowTheFirstPause(int failures, Duration pause) {
    assertThat(new Pauses(ofMillis(5)).after(failures)).isEqualTo(pause);
  }

  @ParameterizedTest(name = "after {0} failures: {1}")
  @CsvSource({"150, PT2S", "500, PT2S"})
  void keepAFrequencyAboveASecond(int failures, Duration pause) {
    assertThat(new Pauses(ofMillis(2_000)).after(failures)).isEqualTo(pause);
  }
}
