package dev.activator.revision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ScalingView.ScaleState;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScaleStateTest {
  @ParameterizedTest(name = "{0} replicas, {1} desired, {2} ready of {3} pods: {4}")
  @CsvSource({"0, 0, 0, 0, zero", "0, 0, 0, 1, stopping", "0, 0, 1, 1, stopping",
      "0, 1, 0, 0, waking", "1, 1, 0, 0, waking", "1, 1, 0, 1, waking", "1, 1, 1, 1, running",
      "3, 3, 1, 3, running", "1, 0, 1, 1, running"})
  void isOneWord(int replicas, int desired, int ready, int pods, String text) {
    assertThat(ScaleState.of(replicas, desired, ready, pods).text()).isEqualTo(text);
  }
}
