package dev.activator.embedded.api.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueryFlagTest {
  @ParameterizedTest(name = "\"{0}\" means {1}")
  @CsvSource({"true, true", "1, true", "True, true", "'', true", "no, true", "false, false",
      "False, false", "0, false"})
  void isSoUnlessItSaysNo(String value, boolean yes) {
    assertThat(QueryFlag.isYes(value)).isEqualTo(yes);
  }
}
