package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.testing.RawHttp2;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A caller that reads nothing for a while, within its revision's timeouts. */
class PausingCallerTest extends WireTest {
  private static final int BYTES = 32 << 20;
  private static final String RESPONSE = "HTTP/1.1 200 OK\r\nContent-Length: " + BYTES + "\r\n\r\n"
      + "x".repeat(BYTES);

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.headTimeout(Duration.ofSeconds(1));
  }

  /** Lasts three seconds: a connection without a request is ended after one. */
  private void pause() throws IOException {
    for (int i = 0; i < 3; i++) {
      try (var silent = activator.connect()) {
        silent.awaitEnd();
      }
    }
  }

  @Test
  void getsAllOfTheResponseInHttp1() throws Exception {
    pod(RESPONSE);
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      var head = caller.readHead();

      pause();

      assertThat(caller.readBody(head)).hasSize(BYTES);
    }
  }

  @Test
  void getsAllOfTheResponseInHttp2() throws Exception {
    activator.container(ReadinessProbeSpec.CONNECT, 0);
    pod(RESPONSE);
    try (var caller = RawHttp2.caller(activator.connect(),
        RawHttp2.INITIAL_WINDOW_SIZE, 2 * BYTES)) {
      caller.window(0, 2 * BYTES);
      caller.headers(1, true, ":method", "GET", ":scheme", "http", ":path", "/", ":authority", "x",
          "knative-serving-namespace", "default", "knative-serving-revision", "hello-00001");
      assertThat(caller.read().field(":status")).isEqualTo("200");

      pause();

      assertThat(caller.body(1)).hasSize(BYTES);
    }
  }
}
