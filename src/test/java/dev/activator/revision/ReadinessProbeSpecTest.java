package dev.activator.revision;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReadinessProbeSpecTest {
  private static final String AGENT = "User-Agent=kube-probe/1.34";

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', value = {
      "X-Own     | yes       | {Accept=*/*, Connection=close, " + AGENT + ", X-Own=yes}",
      "accept    | text/html | {Accept=text/html, Connection=close, " + AGENT + "}",
      "Accept    | ''        | {Connection=close, " + AGENT + "}",
      "user-agent | me       | {Accept=*/*, Connection=close, User-Agent=me}"})
  void sendsTheFieldsOfTheKubelet(String name, String value, String sent) {
    assertThat(new TreeMap<>(ReadinessProbeSpec.sent(Map.of(name, value))).toString())
        .isEqualTo(sent);
  }
}
