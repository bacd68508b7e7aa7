package dev.activator.revision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.ColdStartRules.ConfiguredResponse;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DoNotWakeRuleTest {
  private static final Map<String, List<String>> HEADERS = Map.of("User-Agent",
      List.of("GoogleHC/1.0"), "X-Probe", List.of("a", "b"));

  private static boolean matches(DoNotWakeRule rule, String method, String target) {
    return rule.matches(method, target, name -> HEADERS.getOrDefault(name, List.of()));
  }

  private static DoNotWakeRule rule(DoNotWakeRule.@Nullable Text path, @Nullable String method,
      DoNotWakeRule.Header... headers) {
    return new DoNotWakeRule(path, method, List.of(headers), ConfiguredResponse.ok(), false);
  }

  @ParameterizedTest
  @CsvSource({"/healthz, false, /healthz, true", "/healthz, false, /healthz?full=1, true",
      "/healthz, false, /healthz/, false", "/healthz, false, /HEALTHZ, false",
      "/healthz, false, /a/healthz, false", "/metrics, true, /metrics, true",
      "/metrics, true, /metrics/pods?x, true", "/metrics, true, /metricsfoo, true",
      "/metrics, true, /?/metrics, false", "/metrics/, true, /metrics, false"})
  void thePathIsComparedWithoutTheQuery(String text, boolean prefix, String target,
      boolean matches) {
    assertThat(matches(rule(new DoNotWakeRule.Text(text, prefix), null), "GET", target))
        .isEqualTo(matches);
  }

  @ParameterizedTest
  @CsvSource({"GET, GET, true", "GET, HEAD, false", ", POST, true"})
  void theMethodMustBeTheSame(@Nullable String method, String requested, boolean matches) {
    assertThat(matches(rule(null, method), requested, "/")).isEqualTo(matches);
  }

  @ParameterizedTest
  @CsvSource({"X-Probe, b, false, true", "X-Probe, c, false, false", "X-Probe, '', true, true",
      "X-Other, '', true, false", "User-Agent, Google, true, true",
      "User-Agent, Google, false, false"})
  void oneValueOfAHeaderMustMatch(String name, String value, boolean prefix, boolean matches) {
    assertThat(matches(
        rule(null, null, new DoNotWakeRule.Header(name, new DoNotWakeRule.Text(value, prefix))),
        "GET",
        "/")).isEqualTo(matches);
  }

  @Test
  void allConditionsMustMatch() {
    var agent = DoNotWakeRule.userAgent("GoogleHC/");
    var other = DoNotWakeRule.userAgent("curl/");

    assertThat(matches(rule(new DoNotWakeRule.Text("/", false), "GET", agent), "GET", "/"))
        .isTrue();
    assertThat(matches(rule(new DoNotWakeRule.Text("/", false), "GET", agent, other), "GET", "/"))
        .isFalse();
    assertThat(matches(rule(new DoNotWakeRule.Text("/x", false), "GET", agent), "GET", "/"))
        .isFalse();
  }

  @ParameterizedTest
  @CsvSource({"GoogleHC/1.0, true", "ELB-HealthChecker/2.0, true", "kube-probe/1.35, true",
      "Prometheus/3.1.0, true", "Mozilla/5.0, false", "curl/8 GoogleHC/1.0, false"})
  void knownProbesAreFoundByTheirUserAgent(String agent, boolean known) {
    assertThat(DoNotWakeRule.knownProbes().stream()
        .anyMatch(rule -> rule.matches("GET", "/", _ -> List.of(agent)))).isEqualTo(known);
  }
}
