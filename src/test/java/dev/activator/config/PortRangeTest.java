package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PortRangeTest {
  @ParameterizedTest
  @CsvSource({"9100-9119, 9100, 9119", "9100, 9100, 9100", "' 1 - 65535 ', 1, 65535"})
  void readsARange(String text, int first, int last) {
    assertThat(PortRange.parse(text)).isEqualTo(new PortRange(first, last));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  "})
  void nothingIsNoPort(String text) {
    assertThat(PortRange.parse(text).isEmpty()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"9119-9100", "0-10", "1-65536", "9100-", "-9100", "a-b", "1-2-3",
      "9100,9101", "999999"})
  void refusesWhatIsNone(String text) {
    assertThatThrownBy(() -> PortRange.parse(text)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("must ");
  }
}
