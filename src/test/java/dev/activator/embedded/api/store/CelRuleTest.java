package dev.activator.embedded.api.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CelRuleTest {
  @ParameterizedTest(name = "{0} of {1} is {2}")
  @CsvSource(delimiter = '~', quoteCharacter = '`', value = {
      "has(self.a) ~ {'a': false} ~ true", "has(self.a.b) ~ {} ~ false",
      "!has(self.a) || self.a > 1 ~ {'a': 1} ~ false", "!has(self.a) || self.a > 1 ~ {} ~ true",
      "self.a == 1 && self.b != \"x\" ~ {'a': 1, 'b': 'y'} ~ true",
      "self.a == self.b ~ {} ~ true", "self.a == self.b ~ {'a': 1} ~ false",
      "self.a <= 2 ~ {'a': 3} ~ false", "self.a >= 2 ~ {'a': 2} ~ true",
      "self.a < 2 ~ {'a': 2} ~ false",
      "self.a in [204, 205] ~ {'a': 205} ~ true", "self.a in [204, 205] ~ {'a': 2} ~ false",
      "self.a in self.b ~ {'a': 'x', 'b': ['y', 'x']} ~ true",
      "size(self.a) == 2 ~ {'a': [1, 2]} ~ true", "size(self.a) == 0 ~ {'a': ''} ~ true",
      "self.a.matches('^[a-z]+$') ~ {'a': 'abc'} ~ true",
      "self.a.matches('^[a-z]+$') ~ {'a': 'abc\\n'} ~ false",
      "self.a.matches('b|c') ~ {'a': 'abc'} ~ true",
      "self.a.all(x, x > 1 || has(x.b)) ~ {'a': [2, {'b': 1}]} ~ true",
      "self.a.all(x, x > 1) ~ {'a': [2, 1]} ~ false", "self.a.all(x, x > 1) ~ {} ~ true",
      "self.a.exists(x, !has(x.b)) ~ {'a': [{'b': 1}, {}]} ~ true",
      "self.a.exists(x, x == 3) ~ {'a': [1]} ~ false",
      "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) == 1 ~ {'b': 0} ~ true",
      "!(has(self.a) && has(self.b)) ~ {'a': 1, 'b': 2} ~ false",
      "self.a || self.b && self.c ~ {'a': true} ~ true"})
  void decidesByTheObject(String rule, String object, boolean allowed) {
    assertThat(new CelRule(rule).allows(Objects.parse(object), null)).isEqualTo(allowed);
  }

  @Test
  void comparesWithTheEarlierObjectIfThereIsOne() {
    var same = new CelRule("self.a == oldSelf.a");

    assertThat(same.allows(Objects.parse("{'a': 1}"), null)).isTrue();
    assertThat(same.allows(Objects.parse("{'a': 1}"), Objects.parse("{'a': 1}"))).isTrue();
    assertThat(same.allows(Objects.parse("{'a': 1}"), Objects.parse("{'a': 2}"))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"self.a * 2 == 4", "self.a.startsWith('b')", "timestamp(self.a)",
      "(self.a", "self.a ==", "self.a 1"})
  void refusesOtherPartsOfTheLanguage(String rule) {
    assertThatThrownBy(() -> new CelRule(rule)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("of the rule " + rule + " is not supported");
  }
}
