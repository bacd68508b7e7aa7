package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.TestValues;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LoadSampleTest {
  @ParameterizedTest(name = "{0} at once, {1} arrived: {2}")
  @CsvSource({"0, 0, false", "0.001, 0, true", "0, 1, true", "3, 4, true"})
  void isDemandIfARequestRanOrArrived(double concurrency, double arrivals, boolean demand) {
    assertThat(TestValues.sample("a", concurrency, arrivals).isDemand()).isEqualTo(demand);
  }

  @ParameterizedTest(name = "{0} at once, {1} arrived")
  @CsvSource({"-1, 0, concurrency", "NaN, 0, concurrency", "Infinity, 0, concurrency",
      "0, -0.5, number of requests", "0, NaN, number of requests",
      "100000001, 0, concurrency", "0, 1e300, number of requests"})
  void refusesWhatIsNoNumberOfRequests(double concurrency, double arrivals, String what) {
    assertThatThrownBy(() -> TestValues.sample("pod-a", concurrency, arrivals))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("the " + what + " that pod-a reports is not a number of requests");
  }
}
