package dev.activator.ext.affinity.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.RevisionAnnotations;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AffinityAnnotationsTest {
  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"affinity-header, Mcp-Session-Id", "affinity-cookie, JSESSIONID",
      "affinity-cookie, ''", "affinity-query, session", "affinity-mode, strict",
      "affinity-on-pod-gone, reject"})
  void acceptsWhatTheRuleReads(String name, String value) {
    assertThat(RevisionAnnotations.problem("activator.dev/" + name, value)).isEmpty();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', value = {
      "affinity-header | a: b | a name of at most 128 letters, digits and . _ ~ -",
      "affinity-mode | sticky | prefer, strict or exclusive",
      "affinity-on-pod-gone | wait | another or reject"})
  void saysWhatIsExpected(String name, String value, String expected) {
    assertThat(RevisionAnnotations.problem("activator.dev/" + name, value))
        .contains("'" + value + "' is ignored: it must be " + expected);
  }
}
