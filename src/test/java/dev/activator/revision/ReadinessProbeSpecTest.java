package dev.activator.revision;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReadinessProbeSpecTest {
  private static final String AGENT = "User-Agent=[kube-probe/1.34]";

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', value = {
      "X-Own     | yes       | {Accept=[*/*], Connection=[close], " + AGENT + ", X-Own=[yes]}",
      "accept    | text/html | {Connection=[close], " + AGENT + ", accept=[text/html]}",
      "Accept    | ''        | {Connection=[close], " + AGENT + "}",
      "user-agent | me       | {Accept=[*/*], Connection=[close], user-agent=[me]}",
      "X-Own     | a;b       | {Accept=[*/*], Connection=[close], " + AGENT + ", X-Own=[a, b]}"})
  void sendsTheFieldsOfTheKubelet(String name, String values, String sent) {
    assertThat(new TreeMap<>(ReadinessProbeSpec.sent(Map.of(name, List.of(values.split(";", -1)))))
        .toString()).isEqualTo(sent);
  }

  @Test
  void namesThatDifferInCaseAreOneName() {
    assertThat(ReadinessProbeSpec.sent(Map.of("X-A", List.of("1"), "x-a", List.of("2")))
        .get("X-A")).containsExactly("1", "2");
  }
}
