package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallerTimeoutTest {
  private static long nanos(String name, String value) {
    return DeadlineCalculator.ofCaller(MapFields.of(name, value));
  }

  @ParameterizedTest(name = "{0}: {1} is {2} ns")
  @CsvSource({"grpc-timeout, 2H, 7200000000000", "grpc-timeout, 3M, 180000000000",
      "grpc-timeout, 5S, 5000000000", "grpc-timeout, 250m, 250000000",
      "grpc-timeout, 99999999u, 99999999000", "grpc-timeout, 7n, 7",
      "grpc-timeout, 2562047H, 9223369200000000000",
      "X-Envoy-Expected-Rq-Timeout-Ms, 15000, 15000000000", "Request-Timeout, 30, 30000000000"})
  void isWhatTheCallerSays(String name, String value, long nanos) {
    assertThat(nanos(name, value)).isEqualTo(nanos);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"grpc-timeout, 5", "grpc-timeout, S", "grpc-timeout, 5s", "grpc-timeout, -5S",
      "grpc-timeout, 123456789S", "grpc-timeout, 0S", "grpc-timeout, ''",
      "grpc-timeout, 99999999H", "grpc-timeout, 2562048H", "X-Envoy-Expected-Rq-Timeout-Ms, 0",
      "X-Envoy-Expected-Rq-Timeout-Ms, 1.5", "Request-Timeout, soon", "Request-Timeout, 0"})
  void isNoneWhereThatMeansNothing(String name, String value) {
    assertThat(nanos(name, value)).isEqualTo(DeadlineCalculator.NONE);
  }

  @Test
  void isTheShortestOfSeveral() {
    var fields = MapFields.of("grpc-timeout", "5S", "X-Envoy-Expected-Rq-Timeout-Ms", "2000",
        "Request-Timeout", "3");

    assertThat(DeadlineCalculator.ofCaller(fields)).isEqualTo(2_000_000_000L);
    assertThat(DeadlineCalculator.ofCaller(MapFields.of())).isEqualTo(DeadlineCalculator.NONE);
  }
}
