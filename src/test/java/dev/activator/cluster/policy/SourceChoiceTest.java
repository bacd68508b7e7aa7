package dev.activator.cluster.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.policy.SourceChoice.Found;
import dev.activator.cluster.policy.SourceChoice.Kind;
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
}
