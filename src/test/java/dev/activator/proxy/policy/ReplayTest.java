package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReplayTest {
  @Test
  void isForRequestsThatChangeNothing() {
    for (String method : new String[]{"GET", "HEAD", "OPTIONS", "TRACE"}) {
      assertThat(Replay.allows(method, MapFields.of())).as(method).isTrue();
    }
    for (String method : new String[]{"POST", "PUT", "DELETE", "PATCH", "get"}) {
      assertThat(Replay.allows(method, MapFields.of())).as(method).isFalse();
    }
  }

  @Test
  void isForThoseWithAKey() {
    assertThat(Replay.allows("POST", MapFields.of("Idempotency-Key", "1"))).isTrue();
    assertThat(Replay.allows("POST", MapFields.of("X-Idempotency-Key", "1", "Content-Length", "0")))
        .isTrue();
  }

  @Test
  void isNotForThoseWithABody() {
    assertThat(Replay.allows("GET", MapFields.of("Content-Length", "1"))).isFalse();
    assertThat(Replay.allows("GET", MapFields.of("Transfer-Encoding", "chunked"))).isFalse();
  }
}
