package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {
  @ParameterizedTest(name = "{0} in {1}: {2}")
  @CsvSource({"2, 1, 2", "1500m, 1, 2", "1500m, 1m, 1500", "0.1, 1m, 100", "250n, 1u, 1",
      "1k, 1, 1000",
      "1Ki, 1, 1024", "128Mi, 1, 134217728", "128Mi, 1M, 135", "1Ei, 1Pi, 1024", "1E, 1P, 1000",
      "1e3, 1, 1000", "1.5E2, 1, 150", "5., 1, 5", ".5Gi, 1Mi, 512", "+1T, 1G, 1000", "-1, 1, -1"})
  void isCountedInWholeDivisorsRoundedUp(String text, String divisor, String number) {
    assertThat(Quantity.isOne(text)).isTrue();
    assertThat(Quantity.parse(text).in(Quantity.parse(divisor))).isEqualTo(number);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "1 Gi", "1Gib", "1K", "m", "1e", "1e3Ki", "1mi", "--1", "1.2.3"})
  void isRefusedInAnyOtherForm(String text) {
    assertThat(Quantity.isOne(text)).isFalse();
    assertThatThrownBy(() -> Quantity.parse(text)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + text + "'");
  }

  @Test
  void isReadInLinearTime() {
    assertThat(Quantity.isOne("1".repeat(100_000) + "x")).isFalse();
  }
}
