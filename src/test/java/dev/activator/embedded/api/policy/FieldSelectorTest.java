package dev.activator.embedded.api.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FieldSelectorTest {
  private static final Map<String, String> FIELDS = Map.of("metadata.name", "a",
      "metadata.namespace", "ns", "reason", "x,y");

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource(delimiter = '|', value = {"metadata.name=a|true", "metadata.name==a|true",
      "metadata.name!=a|false", "metadata.name!=b|true", "metadata.name=b|false",
      "metadata.name=a,metadata.namespace=ns|true", "metadata.name=a,metadata.namespace=x|false",
      "status.phase=|true", "status.phase!=Running|true", "reason=x\\,y|true"})
  void comparesFields(String selector, boolean expected) {
    assertThat(FieldSelector.parse(selector).matches(FIELDS)).isEqualTo(expected);
  }

  @Test
  void refusesUnknownFields() {
    var selector = FieldSelector.parse("spec.x=1");

    assertThatThrownBy(() -> selector.over(List.of("metadata.name", "metadata.namespace")))
        .hasMessage("\"spec.x\" is not a known field selector: only \"metadata.name\","
            + " \"metadata.namespace\"");
  }

  @Test
  void takesFieldsThatAreKnown() {
    var selector = FieldSelector.parse("metadata.name=a");

    assertThat(selector.over(List.of("metadata.name"))).isEqualTo(selector);
  }

  @Test
  void refusesWhatIsNoComparison() {
    assertThatThrownBy(() -> FieldSelector.parse("metadata.name"))
        .hasMessage("invalid selector: 'metadata.name'; can't understand 'metadata.name'");
  }
}
