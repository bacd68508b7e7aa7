package dev.activator.proxy.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.policy.MapFields;
import org.junit.jupiter.api.Test;

class IdempotentRequestsTest {
  @Test
  void isIdempotent_byItsMethod() {
    for (String method : new String[]{"GET", "HEAD", "OPTIONS", "TRACE"}) {
      assertThat(Forwarder.isIdempotent(method, MapFields.of())).as(method).isTrue();
    }
    for (String method : new String[]{"POST", "PUT", "DELETE", "PATCH", "get"}) {
      assertThat(Forwarder.isIdempotent(method, MapFields.of())).as(method).isFalse();
    }
  }

  @Test
  void isIdempotent_withAKey() {
    assertThat(Forwarder.isIdempotent("POST", MapFields.of("Idempotency-Key", "1"))).isTrue();
    assertThat(Forwarder.isIdempotent("POST", MapFields.of("X-Idempotency-Key", "1"))).isTrue();
  }
}
