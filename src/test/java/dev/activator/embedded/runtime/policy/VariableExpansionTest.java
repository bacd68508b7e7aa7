package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VariableExpansionTest {
  private static final Map<String, String> KNOWN = Map.of("PORT", "8080", "MONEY", "$5\\", "A.B",
      "dots");

  @ParameterizedTest(name = "{0} -> {1}")
  @CsvSource({"$(PORT),8080", "--port=$(PORT),--port=8080", "a:$(PORT)/$(PORT),a:8080/8080",
      "$(date),$(date)", "$(MONEY),$5\\", "$$(PORT),$(PORT)", "$$$(PORT),$8080",
      "$$$$(PORT),$$(PORT)", "$$,$", "$(A.B),dots", "$(PORT,$(PORT", "$1,$1", "$,$", "plain,plain",
      "$PORT,$PORT", "${PORT},${PORT}"})
  void followsTheRulesOfKubernetes(String text, String expected) {
    assertThat(VariableExpansion.of(text, KNOWN)).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0} -> {1}")
  @CsvSource({"$PORT,8080", "${PORT},8080", "$(PORT),8080", "--port=$PORT,--port=8080",
      "$PORTABLE,$PORTABLE", "$HOME,$HOME", "$MONEY,$MONEY", "$(MONEY),$5\\", "$$PORT,$PORT",
      "echo $$,echo $"})
  void putsThePortIntoACommandAlsoAsAShellWould(String word, String expected) {
    assertThat(VariableExpansion.ofCommand(List.of(word), KNOWN)).containsExactly(expected);
  }
}
