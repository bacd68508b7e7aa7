package dev.activator.cluster.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.policy.SourceChoice.Found;
import dev.activator.cluster.policy.SourceChoice.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SourceChoiceTest {
  @ParameterizedTest(name = "slices {0}, Endpoints {1}, written {2}: {3}")
  @CsvSource({"SOME,SOME,true,SLICES", "SOME,FORBIDDEN,false,SLICES", "NONE,SOME,true,ENDPOINTS",
      "NONE,SOME,false,ENDPOINTS", "NONE,NONE,true,SLICES", "NONE,NONE,false,ENDPOINTS",
      "NONE,FORBIDDEN,false,SLICES", "NONE,NOT_SERVED,false,SLICES",
      "FORBIDDEN,SOME,true,ENDPOINTS",
      "FORBIDDEN,FORBIDDEN,false,ENDPOINTS", "NOT_SERVED,NONE,false,ENDPOINTS"})
  void takesSlicesWhereTheyCanBeUsed(Found slices, Found endpoints, boolean written, Kind kind) {
    assertThat(SourceChoice.of(slices, endpoints, written).kind()).isEqualTo(kind);
  }

  @ParameterizedTest(name = "first {0}, then {1}: {2}")
  @CsvSource({"SOME,SOME,SLICES", "SOME,NONE,SLICES", "SOME,FORBIDDEN,ENDPOINTS",
      "SOME,NOT_SERVED,ENDPOINTS", "NONE,SOME,ENDPOINTS", "NONE,NONE,ENDPOINTS",
      "NONE,FORBIDDEN,ENDPOINTS", "FORBIDDEN,SOME,SLICES", "FORBIDDEN,NONE,ENDPOINTS",
      "FORBIDDEN,NOT_SERVED,ENDPOINTS", "NOT_SERVED,SOME,SLICES", "NOT_SERVED,FORBIDDEN,ENDPOINTS"})
  void changesOverWhereTheyCanNewlyBeListedOrNewlyCannot(Found first, Found then, Kind kind) {
    assertThat(SourceChoice.of(first, Found.SOME, true).after(then).kind()).isEqualTo(kind);
  }

  @ParameterizedTest(name = "slices {0}: {1}")
  @CsvSource({"SOME,true", "NONE,false", "FORBIDDEN,true", "NOT_SERVED,true"})
  void knowsWhetherItMayChange(Found first, boolean expected) {
    var choice = SourceChoice.of(first, Found.SOME, true);

    assertThat(choice.mayChange()).isEqualTo(expected);
    for (var then : Found.values()) {
      assertThat(choice.mayChange() || choice.after(then).equals(choice)).isTrue();
    }
  }

  @Test
  void goesBackOnceTheyCanBeListedAgain() {
    var choice = SourceChoice.of(Found.SOME, Found.SOME, true).after(Found.FORBIDDEN);

    assertThat(choice.after(Found.NONE)).isEqualTo(choice);
    assertThat(choice.after(Found.NONE).after(Found.SOME).kind()).isEqualTo(Kind.SLICES);
  }
}
