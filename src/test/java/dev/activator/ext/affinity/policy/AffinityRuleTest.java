package dev.activator.ext.affinity.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.affinity.policy.AffinityRule.Mode;
import dev.activator.ext.affinity.policy.AffinityRule.Source;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AffinityRuleTest {
  private final List<String> problems = new ArrayList<>();

  private AffinityRule parse(String... annotations) {
    var all = new HashMap<String, String>();
    for (int i = 0; i < annotations.length; i += 2) {
      all.put("activator.dev/affinity-" + annotations[i], annotations[i + 1]);
    }
    return AffinityRule.parse(AffinityRule.in(all), problems::add);
  }

  @Test
  void readsAnnotations() {
    assertThat(parse("header", " Mcp-Session-Id "))
        .isEqualTo(new AffinityRule(Source.HEADER, "Mcp-Session-Id", Mode.PREFER, false));
    assertThat(parse("cookie", "sid", "mode", "strict"))
        .isEqualTo(new AffinityRule(Source.COOKIE, "sid", Mode.STRICT, false));
    assertThat(parse("query", "s", "mode", "strict", "on-pod-gone", "reject"))
        .isEqualTo(new AffinityRule(Source.QUERY, "s", Mode.STRICT, true));
    assertThat(parse("cookie", "").isOwnCookie()).isTrue();
    assertThat(parse("cookie", "sid").isOwnCookie()).isFalse();
    assertThat(parse()).isNull();
    assertThat(problems).isEmpty();
  }

  @Test
  void ignoresWhatIsInvalid() {
    assertThat(parse("header", "a", "cookie", "b")).isNull();
    assertThat(parse("header", "a: b")).isNull();
    assertThat(parse("header", "a", "mode", "sticky"))
        .isEqualTo(new AffinityRule(Source.HEADER, "a", Mode.PREFER, false));
    assertThat(parse("header", "a", "on-pod-gone", "reject"))
        .isEqualTo(new AffinityRule(Source.HEADER, "a", Mode.PREFER, false));

    assertThat(parse("cookie", "", "mode", "strict", "on-pod-gone", "reject"))
        .isEqualTo(new AffinityRule(Source.COOKIE, "activator-affinity", Mode.STRICT, false));

    assertThat(problems).hasSize(5).first()
        .isEqualTo("annotations activator.dev/affinity-header and"
            + " activator.dev/affinity-cookie: a request has one key");
    assertThat(problems.get(2)).isEqualTo("annotation activator.dev/affinity-mode: 'sticky' is"
        + " ignored: it must be prefer, strict or exclusive");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(quoteCharacter = '"', nullValues = "none", value = {"sid=1, 1", "a=2; sid=1; b=3, 1",
      "a=2;sid=1, 1", "sid =1, 1", "sid=a=b, a=b", "sid=, none", "asid=1, none", "sid, none",
      "\"\", none", ";;=;sid=1;, 1", "sid=1; sid=2, 1"})
  void findsTheKeyInCookies(String line, String key) {
    assertThat(parse("cookie", "sid").keyOf(name -> name.equals("Cookie") ? List.of(line) : null,
        "/")).isEqualTo(key);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(nullValues = "none", value = {"/?s=1, 1", "/a?b=2&s=1&c=3, 1", "/?s=, none",
      "/?as=1, none", "/?s, none", "/s=1, none", "/?, none", "/?s=%20&s=2, %20", "/?&&s=1, 1"})
  void findsTheKeyInTheQuery(String path, String key) {
    assertThat(parse("query", "s").keyOf(_ -> List.of(), path)).isEqualTo(key);
  }

  @Test
  void findsTheKeysThatAPodIssues() {
    var response = Map.of("Mcp-Session-Id", List.of("k"), "Set-Cookie",
        List.of("sid=1; Path=/", "other=2", "sid=; Max-Age=0"));

    assertThat(parse("header", "Mcp-Session-Id")
        .keysIssued(name -> response.getOrDefault(name, List.of()))).containsExactly("k");
    assertThat(parse("cookie", "sid").keysIssued(name -> response.getOrDefault(name, List.of())))
        .containsExactly("1");
    assertThat(parse("query", "s").keysIssued(name -> response.getOrDefault(name, List.of())))
        .isEmpty();
  }
}
