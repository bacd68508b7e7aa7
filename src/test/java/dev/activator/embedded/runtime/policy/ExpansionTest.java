package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExpansionTest {
  @ParameterizedTest
  @CsvSource({"$PORT,8080", "${PORT},8080", "$(PORT),8080", "--port=$PORT,--port=8080",
      "a:$PORT/$PORT,a:8080/8080", "$PORTABLE,$PORTABLE", "$HOME,$HOME", "$(date),$(date)",
      "$1,$1", "plain,plain", "$MONEY,$5\\"})
  void putsInWhatItKnowsAndLeavesTheRest(String word, String expected) {
    assertThat(Expansion.of(word, Map.of("PORT", "8080", "MONEY", "$5\\"))).isEqualTo(expected);
  }

  @Test
  void replacesVariablesInEachWord() {
    assertThat(Expansion.of(List.of("run", "$(A)", "-$B"), Map.of("A", "1", "B", "2")))
        .containsExactly("run", "1", "-2");
  }
}
