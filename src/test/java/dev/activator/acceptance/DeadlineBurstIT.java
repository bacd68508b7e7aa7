package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/** Thousands of requests whose deadline is over when they arrive, at a process that has just started. */
class DeadlineBurstIT {
  private static final int CONNECTIONS = 64;
  private static final int STREAMS = 64;
  private static final String[] LATE = {":method", "GET", ":scheme", "http", ":path", "/",
      ":authority", "hello.default.localhost", "grpc-timeout", "1n"};

  @Test
  void answersAllAndKeepsNothing() throws Exception {
    // Its end checks that nothing is in flight, queued or held.
    try (var activator = ActivatorProcess.started().ready()) {
      assertThat(new Curl(activator).get("hello.default.localhost").statusCode()).isEqualTo(200);
      var callers = new ArrayList<RawHttp2>();
      for (int i = 0; i < CONNECTIONS; i++) {
        callers.add(RawHttp2.caller(RawPeer.connect(activator.requestPort())));
      }

      for (var caller : callers) {
        for (int i = 0; i < STREAMS; i++) {
          caller.headers(2 * i + 1, true, LATE);
        }
      }

      for (var caller : callers) {
        assertThat(caller.responses(STREAMS).values()).hasSize(STREAMS)
            .allMatch(response -> response.startsWith("504 "));
        caller.close();
      }
      assertThat(activator.log()).doesNotContain("Error");
    }
  }
}
