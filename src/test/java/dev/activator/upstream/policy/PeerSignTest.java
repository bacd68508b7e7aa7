package dev.activator.upstream.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PeerSignTest {
  /** For an interval of five seconds. */
  @ParameterizedTest(name = "{0} repeats, {1} of silence: {2}")
  @CsvSource({"0, PT0S, ALIVE", "0, PT3H, ALIVE", "1, PT0.2S, ALIVE", "6, PT3.9S, ALIVE",
      "1, PT4S, SILENT", "3, PT5S, SILENT"})
  void isSilentOnceRepeatsGoUnacknowledged(int repeats, Duration silence, PeerSign sign) {
    assertThat(PeerSign.of(repeats, silence, Duration.ofSeconds(5))).isEqualTo(sign);
  }
}
