package dev.activator.embedded.api.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathsAndNamesTest {
  static Stream<Arguments> paths() {
    return Stream.of(
        Arguments.of("/api/v1/pods", new ResourcePath("", "v1", "", "pods", "", "", false)),
        Arguments.of("/api/v1/namespaces",
            new ResourcePath("", "v1", "", "namespaces", "", "", false)),
        Arguments.of("/api/v1/namespaces/a",
            new ResourcePath("", "v1", "", "namespaces", "a", "", false)),
        Arguments.of("/api/v1/namespaces/a/status",
            new ResourcePath("", "v1", "", "namespaces", "a", "status", false)),
        Arguments.of("/api/v1/namespaces/a/pods",
            new ResourcePath("", "v1", "a", "pods", "", "", false)),
        Arguments.of("/api/v1/namespaces/a/pods/p/status",
            new ResourcePath("", "v1", "a", "pods", "p", "status", false)),
        Arguments.of("/apis/apps/v1/namespaces/a/deployments/d/scale",
            new ResourcePath("apps", "v1", "a", "deployments", "d", "scale", false)),
        Arguments.of("/apis/serving.knative.dev/v1/revisions",
            new ResourcePath("serving.knative.dev", "v1", "", "revisions", "", "", false)),
        Arguments.of("/api/v1/watch/namespaces/a/pods/p",
            new ResourcePath("", "v1", "a", "pods", "p", "", true)),
        Arguments.of("/apis/apps/v1/watch/deployments",
            new ResourcePath("apps", "v1", "", "deployments", "", "", true)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("paths")
  void readsWhatAPathNames(String path, ResourcePath expected) {
    assertThat(ResourcePath.parse(path)).contains(expected);
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"/", "/api", "/api/v1", "/apis/apps/v1", "/other/v1/pods",
      "/api/v1/pods/", "/api/v1/namespaces/a/pods/p/log/more", "/api/v1//pods"})
  void readsNothingElse(String path) {
    assertThat(ResourcePath.parse(path)).isEmpty();
  }

  @ParameterizedTest(name = "{0}: label {1}, subdomain {2}")
  @CsvSource({"a, true, true", "a-b1, true, true", "a.b, false, true", "A, false, false",
      "a_b, false, false", "-a, false, false", "a-, false, false", "a..b, false, false",
      "'', false, false"})
  void allowsNamesAsDnsDoes(String name, boolean label, boolean subdomain) {
    assertThat(ObjectNames.problemAsLabel(name).isEmpty()).isEqualTo(label);
    assertThat(ObjectNames.problemAsSubdomain(name).isEmpty()).isEqualTo(subdomain);
  }

  @ParameterizedTest(name = "{0} characters: label {1}, subdomain {2}")
  @CsvSource({"63, true, true", "64, false, true", "253, false, true", "254, false, false"})
  void allowsNamesAsLongAsDnsDoes(int length, boolean label, boolean subdomain) {
    String name = "a".repeat(length);

    assertThat(ObjectNames.problemAsLabel(name).isEmpty()).isEqualTo(label);
    assertThat(ObjectNames.problemAsSubdomain(name).isEmpty()).isEqualTo(subdomain);
  }

  @ParameterizedTest(name = "{0} as an element of a path: {1}")
  @CsvSource({"pod.aB3_x, ''", "a:b c, ''", "..., ''", "., may not be '.'", ".., may not be '..'",
      "a/b, may not contain '/'", "a%b, may not contain '%'"})
  void allowsAnyNameThatAPathCanHave(String name, String problem) {
    assertThat(ObjectNames.problemAsPathSegment(name).orElse("")).isEqualTo(problem);
  }

  @ParameterizedTest(name = "{0} as a key: {1}")
  @CsvSource({"app, ''", "example.com/app_1.x, ''", "'a b', name part must consist of",
      "a/b/c, a valid label key must", "/a, prefix part must be non-empty",
      "A_B/c, prefix part a lowercase RFC 1123 subdomain", "'', name part must consist of"})
  void saysWhyAKeyOfALabelIsNone(String key, String problem) {
    assertThat(ObjectNames.problemAsKey(key).orElse("")).startsWith(problem)
        .matches(text -> problem.isEmpty() == text.isEmpty());
  }

  @ParameterizedTest(name = "{0} as a value: {1}")
  @CsvSource({"'', ''", "Web_1.x, ''", "'no!', a valid label must be an empty string or",
      "-a, a valid label must"})
  void saysWhyAValueOfALabelIsNone(String value, String problem) {
    assertThat(ObjectNames.problemAsLabelValue(value).orElse("")).startsWith(problem)
        .matches(text -> problem.isEmpty() == text.isEmpty());
  }
}
