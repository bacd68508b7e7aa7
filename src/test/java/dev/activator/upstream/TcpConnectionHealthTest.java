package dev.activator.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.upstream.DeadConnectionDetector.TcpConnectionHealth;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TcpConnectionHealthTest {
  /** For an interval of five seconds. */
  @ParameterizedTest(name = "{0} repeats, {1} ms of silence: {2}")
  @CsvSource({"0, 0, ALIVE", "0, 10000000, ALIVE", "1, 200, ALIVE", "6, 3999, ALIVE",
      "1, 4000, SILENT", "3, 5000, SILENT"})
  void isSilentOnceRepeatsGoUnacknowledged(int repeats, long silentMillis,
      TcpConnectionHealth sign) {
    assertThat(TcpConnectionHealth.of(repeats, silentMillis, 5_000)).isEqualTo(sign);
  }
}
