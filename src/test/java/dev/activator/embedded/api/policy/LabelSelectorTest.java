package dev.activator.embedded.api.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LabelSelectorTest {
  private static final Map<String, String> LABELS = Map.of("app", "web", "tier", "2", "empty", "",
      "serving.knative.dev/revisionUID", "u");

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource(delimiter = '|', value = {"app=web|true", "app==web|true", "app = web|true",
      "app=api|false", "app!=api|true", "app!=web|false", "other!=x|true", "app|true",
      "other|false", "!other|true", "!app|false", "app in (api,web)|true", "app in (api)|false",
      "app in ( api , web )|true", "app notin (api,db)|true", "app notin (web)|false",
      "other notin (a)|true", "other in (a)|false", "tier>1|true", "tier>2|false", "tier<3|true",
      "app>1|false", "app=web,tier=2|true", "app=web,tier=3|false",
      "app in (web,api),!other,tier|true", "empty=|true", "empty in (,x)|true", "app=|false",
      "serving.knative.dev/revisionUID|true"})
  void matchesAsKubernetesDoes(String selector, boolean expected) {
    assertThat(LabelSelector.parse(selector).matches(LABELS)).isEqualTo(expected);
  }

  @Test
  void matchesEverythingWhenEmpty() {
    assertThat(LabelSelector.parse("").matches(Map.of())).isTrue();
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"=a", "a in", "a in (b", "a in b", "a=b c", ",", "a,,b", "a=b=c", "a>x",
      "!", "(a)", "a/b/c=d", "-a", "a=-", "a in (b,c/d)",
      "a=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"})
  void saysWhatItCannotRead(String selector) {
    assertThatThrownBy(() -> LabelSelector.parse(selector))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("unable to parse requirement: ")
        .hasMessageContaining('"' + selector + '"');
  }
}
