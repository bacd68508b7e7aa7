package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplayDecisionTest {
  @ParameterizedTest(name = "unseen {0}, stale {1}, harmless {2}, whole {3}, {4} times: {5}")
  @CsvSource({
      // A pod that cannot have acted on it may be asked again, whatever it is.
      "true, false, false, true, 0, ON_ANOTHER_CONNECTION",
      "true, true, true, true, 2, ON_ANOTHER_CONNECTION",
      "true, false, false, true, 3, AT_ANOTHER_POD",
      // But not for what is not there any more.
      "true, true, true, false, 0, NOT_AT_ALL", "true, false, false, false, 3, NOT_AT_ALL",
      // A pod that may have acted on it only where that may be done twice.
      "false, true, true, true, 0, ON_ANOTHER_CONNECTION",
      "false, true, false, true, 0, NOT_AT_ALL",
      "false, true, true, true, 3, NOT_AT_ALL", "false, true, true, false, 0, NOT_AT_ALL",
      // One that ends a new connection has done so because of the request.
      "false, false, true, true, 0, NOT_AT_ALL", "false, false, false, true, 0, NOT_AT_ALL"})
  void says(boolean unseen, boolean stale, boolean harmless, boolean whole, int times,
      ReplayDecision expected) {
    assertThat(new ReplayDecision.Loss(unseen, stale, harmless, whole, times).replay())
        .isEqualTo(expected);
  }

  @Test
  void isIdempotent_byItsMethod() {
    for (String method : new String[]{"GET", "HEAD", "OPTIONS", "TRACE"}) {
      assertThat(ReplayDecision.isIdempotent(method, MapFields.of())).as(method).isTrue();
    }
    for (String method : new String[]{"POST", "PUT", "DELETE", "PATCH", "get"}) {
      assertThat(ReplayDecision.isIdempotent(method, MapFields.of())).as(method).isFalse();
    }
  }

  @Test
  void isIdempotent_withAKey() {
    assertThat(ReplayDecision.isIdempotent("POST", MapFields.of("Idempotency-Key", "1"))).isTrue();
    assertThat(ReplayDecision.isIdempotent("POST", MapFields.of("X-Idempotency-Key", "1")))
        .isTrue();
  }
}
