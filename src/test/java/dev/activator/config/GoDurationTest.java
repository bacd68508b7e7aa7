package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GoDurationTest {
  @ParameterizedTest
  @CsvSource({"300ms, PT0.3S", "1m30s, PT1M30S", "1.5h, PT1H30M", "0, PT0S", ".5s, PT0.5S",
      "-2s, PT-2S", "+1us, PT0.000001S", "1.s, PT1S", "1.0000000015s, PT1.000000001S",
      "0.123456789123456789123456789h, PT7M24.444440844S", "1µs, PT0.000001S",
      "7ns, PT0.000000007S"})
  void isReadAsGoReadsIt(String text, Duration expected) {
    assertThat(GoDuration.parse(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "300", "ms", "1 s", "1m 30s", "1d", "PT1S", "-", "1s x", "1..5s"})
  void isRefusedByNameWhenItIsNone(String text) {
    assertThatThrownBy(() -> GoDuration.parse(text)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("'" + text + "' is not a duration such as 300ms or 1m30s");
  }

  @ParameterizedTest
  @ValueSource(strings = {"9999999h", "2562047h2562047h", "99999999999999999999s"})
  void isRefusedWhenItDoesNotFit(String text) {
    assertThatThrownBy(() -> GoDuration.parse(text))
        .hasMessage("'" + text + "' is too long for a duration");
  }

  @ParameterizedTest(name = "{0} is printed as {1}")
  @CsvSource({"0, 0s", "90s, 90s", "120s, 2m", "1h, 1h", "1500ms, 1500ms", "1500us, 1500µs",
      "1ns, 1ns"})
  void isPrintedInTheLargestUnitThatIsWhole(String text, String printed) {
    assertThat(GoDuration.print(GoDuration.parse(text))).isEqualTo(printed);
    assertThat(GoDuration.parse(printed)).isEqualTo(GoDuration.parse(text));
  }
}
