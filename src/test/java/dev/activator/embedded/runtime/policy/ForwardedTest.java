package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ForwardedTest {
  @ParameterizedTest
  @CsvSource(delimiter = '|', emptyValue = "", value = {
      "''                | ''          | ''    | ''",
      "'10.0.0.1'        | ''          | ''    | 'for=10.0.0.1'",
      "''                | ''          | https | 'proto=https'",
      "'10.0.0.1, ::1'   | example.org | http  "
          + "| 'for=10.0.0.1;host=example.org;proto=http, for=\"[::1]\"'"})
  void isMadeOfTheOlderHeaders(String addresses, String host, String scheme, String expected) {
    assertThat(Forwarded.of(addresses, host, scheme)).isEqualTo(expected);
  }
}
