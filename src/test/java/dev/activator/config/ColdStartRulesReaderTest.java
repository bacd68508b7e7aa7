package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.ColdStartRules.ColdStartFallback;
import dev.activator.revision.ColdStartRules.ConfiguredResponse;
import dev.activator.revision.ColdStartRules;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ColdStartRulesReaderTest {
  private static final String ANNOTATION = ColdStartRulesReader.DO_NOT_WAKE;

  @Test
  void readsYamlAndJsonAlike() {
    var yaml = ColdStartRulesReader.read(Map.of(), Map.of(ANNOTATION, """
        - path: /healthz
          respond: {body: ok}
        - {userAgent: Prometheus/, refuse: {}, always: true}
        """));
    var json = ColdStartRulesReader.read(Map.of(), Map.of(ANNOTATION,
        """
            [{"path": "/healthz", "respond": {"body": "ok"}},
             {"userAgent": "Prometheus/", "refuse": {}, "always": true}]
            """));

    assertThat(yaml).isEqualTo(json);
    assertThat(yaml.problems()).isEmpty();
    assertThat(yaml.doNotWake().getFirst()).isEqualTo(new DoNotWakeRule(
        new DoNotWakeRule.Text("/healthz", false), null, List.of(),
        new ConfiguredResponse(200, Map.of("Content-Type", "text/plain; charset=utf-8"), "ok"),
        false));
    assertThat(yaml.doNotWake().getLast().answer().headers()).containsEntry("Retry-After", "10");
    assertThat(yaml.doNotWake()).map(DoNotWakeRule::toString).containsExactly("/healthz → 200",
        "User-Agent: Prometheus/* → 503, always");
  }

  @Test
  void aFieldOfTheScaledServiceCountsBeforeTheAnnotation() {
    var read = ColdStartRulesReader.read(
        Map.of("doNotWake", List.of(Map.of("path", "/a", "refuse", Map.of()))),
        Map.of(ANNOTATION, "not a list"));

    assertThat(read.doNotWake()).map(rule -> rule.path().text()).containsExactly("/a");
    assertThat(read.problems()).isEmpty();
  }

  @Test
  void isNullWithoutRules() {
    assertThat(ColdStartRulesReader.read(Map.of(), Map.of("other", "x"))).isNull();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "path: /a                              | annotation activator.dev/do-not-wake must be a list of at most 32, not {path=/a}",
      "nonsense                              | annotation activator.dev/do-not-wake must be a list of at most 32, not \"nonsense\"",
      "[/a]                                  | annotation activator.dev/do-not-wake[0] must be an object, not \"/a\"",
      "[{path: 5, refuse: {}}]               | annotation activator.dev/do-not-wake[0].path must be text of at most 1024 characters, not 5",
      "[{path: a, refuse: {}}]               | annotation activator.dev/do-not-wake[0].path must be a path that begins with / and has no query, which is not looked at, not \"a\"",
      "[{pathPrefix: '/a?b', refuse: {}}]    | annotation activator.dev/do-not-wake[0].pathPrefix must be a path that begins with / and has no query, which is not looked at, not \"/a?b\"",
      "[{pathPrefx: /a, refuse: {}}]         | annotation activator.dev/do-not-wake[0] has no field pathPrefx; the nearest is pathPrefix",
      "[{path: /a, pathPrefix: /a, refuse: {}}] | annotation activator.dev/do-not-wake[0] has both path and pathPrefix, but may have one",
      "[{refuse: {}}]                        | annotation activator.dev/do-not-wake[0] needs a condition: path, pathPrefix, method, headers or userAgent",
      "[{path: /a}]                          | annotation activator.dev/do-not-wake[0] needs either respond or refuse",
      "[{path: /a, refuse: {}, respond: {}}] | annotation activator.dev/do-not-wake[0] needs either respond or refuse",
      "[{path: /a, method: 'G T', refuse: {}}] | annotation activator.dev/do-not-wake[0].method must be a method such as GET, not \"G T\"",
      "[{path: /a, respond: {status: 101}}]  | annotation activator.dev/do-not-wake[0].respond.status must be a whole number from 200 to 599, not 101",
      "[{path: /a, respond: {status: 204, body: x}}] | annotation activator.dev/do-not-wake[0].respond.body must be empty with the status 204, not \"x\"",
      "[{path: /a, respond: {contentType: \"a\\nb\"}}] | annotation activator.dev/do-not-wake[0].respond.contentType must be printable ASCII, not \"a\\nb\"",
      "[{path: /a, refuse: {retryAfterSeconds: -1}}] | annotation activator.dev/do-not-wake[0].refuse.retryAfterSeconds must be a whole number from 0 to 86400, not -1",
      "[{path: /a, refuse: {}, always: yes}] | annotation activator.dev/do-not-wake[0].always must be true or false, not \"yes\"",
      "[{headers: [{value: x}], refuse: {}}] | annotation activator.dev/do-not-wake[0].headers[0].name must be the name of a header",
      "[{headers: [{name: 'a b'}], refuse: {}}] | annotation activator.dev/do-not-wake[0].headers[0].name must be the name of a header, not \"a b\"",
      "[{path: /ok, refuse: {}}, {path: /a}] | annotation activator.dev/do-not-wake[1] needs either respond or refuse",})
  void aMalformedAnnotationIsIgnoredAndSaysWhatAndWhere(String text, String problem) {
    var read = ColdStartRulesReader.read(Map.of(), Map.of(ANNOTATION, text.replace("\\n", "\\n")));

    assertThat(read.doNotWake()).isEmpty();
    assertThat(read.problems()).singleElement().satisfies(
        found -> assertThat(found.replace("\n", "\\n")).isEqualTo(problem));
  }

  @ParameterizedTest
  @CsvSource({"count,", "ignore-after=30s, PT30S", "' ignore-after=1m30s', PT1M30S"})
  void readsAfterWhichTimeASilentConnectionDoesNotCount(String text, @Nullable Duration after) {
    var read = ColdStartRulesReader.read(Map.of(),
        Map.of(ColdStartRulesReader.IDLE_CONNECTIONS, text));

    assertThat(read.ignoreIdleAfter()).isEqualTo(after);
    assertThat(read.problems()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"ignore-after=0s", "ignore-after=25h", "ignore", "30s", "ignore-after=soon"})
  void aMalformedTimeCountsConnectionsAsEver(String text) {
    var read = ColdStartRulesReader.read(Map.of(),
        Map.of(ColdStartRulesReader.IDLE_CONNECTIONS, text));

    assertThat(read.ignoreIdleAfter()).isNull();
    assertThat(read.problems()).singleElement().asString()
        .startsWith("annotation activator.dev/idle-connections");
  }

  @Test
  void readsAFallback() {
    assertThat(fallback("{after: 2s, service: spare}").fallback())
        .isEqualTo(new ColdStartFallback(Duration.ofSeconds(2), "spare", null))
        .hasToString("goes to spare after 2.0 s");
    assertThat(fallback("""
        respond: {status: 202, headers: [{name: Location, value: /later}], body: soon}
        """).fallback())
        .isEqualTo(new ColdStartFallback(Duration.ZERO, null, new ConfiguredResponse(202,
            Map.of("Content-Type", "text/plain; charset=utf-8", "Location", "/later"), "soon")))
        .hasToString("answers 202 at once");
  }

  private static ColdStartRules fallback(String text) {
    return ColdStartRulesReader.read(Map.of(), Map.of(ColdStartRulesReader.FALLBACK, text));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "{after: 2s}                       | needs either service or respond",
      "{service: a, respond: {}}         | needs either service or respond",
      "{service: a/b}                    | .service must be the name of one in the same namespace",
      "{after: soon, service: a}         | .after must be a duration such as 500ms, 5s or 1m, at most 10m",
      "{after: 11m, service: a}          | .after must be a duration such as 500ms, 5s or 1m, at most 10m",
      "{after: 2, service: a}            | .after must be text",
      "{respond: {headers: [{name: Content-Length, value: '1'}]}} | .respond.headers[0].name must be another header",
      "{respond: {headers: [{name: k-activator-pod, value: a}]}} | .respond.headers[0].name must be another header",
      "{respond: {headers: [{name: Set-Cookie, value: a}, {name: set-cookie, value: b}]}} | .respond.headers[1].name must be another header: this one is in the list already",
      "{respond: {headers: [{name: X}]}} | .respond.headers[0].value must be text",
      "{respond: {status: 600}}          | .respond.status must be a whole number"})
  void aMalformedFallbackIsIgnoredAndSaysWhatAndWhere(String text, String problem) {
    var read = fallback(text);

    assertThat(read.fallback()).isNull();
    assertThat(read.problems()).singleElement().asString()
        .startsWith("annotation activator.dev/fallback").contains(problem);
  }

  @Test
  void whatIsNoYamlSaysInWhichLine() {
    var read = ColdStartRulesReader.read(Map.of(), Map.of(ANNOTATION, "- path: /a\n  refuse: {"));

    assertThat(read.problems()).singleElement().asString()
        .startsWith("annotation activator.dev/do-not-wake is not YAML, line 2, column ");
  }

  @Test
  void aFieldThatIsThereTwiceIsAProblem() {
    var read = ColdStartRulesReader.read(Map.of(),
        Map.of(ANNOTATION, "[{path: /a, path: /b, refuse: {}}]"));

    assertThat(read.problems()).singleElement().asString().contains("path");
  }

  @Test
  void theHeaderContentTypeCounts_inAnyCase() {
    var read = fallback("{respond: {headers: [{name: content-type, value: text/html}]}}");

    assertThat(read.fallback().answer().headers()).hasSize(1).containsValue("text/html");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "~", "---", "a\n---\nb", "*x", "&a [*a]", "[*a]",
      "!!java.lang.String x",
      "!!binary zzz", "%YAML 9.9\n---\n[]", "\u0000", "\u0007", "\ud800", "[1e999999999, .nan, 0x]",
      "? [a]\n: b",
      "{{a: b}: c}", "- {path: /a, respond: {status: 99999999999999999999}}",
      "[{path: 2020-01-01}]",
      "&a [&b [*a, *a], *b]", "<<: *a", "- <<: {path: /a}", "@", "`", "\t- a", "'", "\"\\x\"", "[}",
      "- |", "- >9"})
  void noTextIsMoreThanAProblem(String text) {
    for (var name : List.of(ANNOTATION, ColdStartRulesReader.FALLBACK,
        ColdStartRulesReader.IDLE_CONNECTIONS)) {
      assertThat(ColdStartRulesReader.read(Map.of(), Map.of(name, text))).isNotNull();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{a: ", "- "})
  void deepNestingIsAProblem(String text) {
    var read = ColdStartRulesReader.read(Map.of(), Map.of(ANNOTATION, text.repeat(50_000)));

    assertThat(read.problems()).hasSize(1);
  }
}
