package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.RawHttp2;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
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

  /** Each second is the end of a connection without a request. */
  private void pause(int seconds) throws IOException {
    for (int i = 0; i < seconds; i++) {
      try (var silent = activator.connect()) {
        silent.awaitEnd();
      }
    }
  }

  private static void get(RawHttp2 caller, int stream, String path) throws IOException {
    caller.headers(stream, true, ":method", "GET", ":scheme", "http", ":path", path, ":authority",
        "x", "knative-serving-namespace", "default", "knative-serving-revision", "hello-00001");
  }

  private void timeouts(Duration overall, Duration idle) {
    activator.revisions.put(new Revision(new RevisionId("default", "hello-00001"), "",
        PortProtocol.HTTP1, 0, new RequestTimeouts(overall, Duration.ZERO, idle), true,
        ReadinessProbeSpec.CONNECT, Map.of(), Map.of(), null));
  }

  @Test
  void getsAllOfTheResponseInHttp1() throws Exception {
    pod(RESPONSE);
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      var head = caller.readHead();

      pause(3);

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
      get(caller, 1, "/");
      assertThat(caller.read().field(":status")).isEqualTo("200");

      pause(3);

      assertThat(caller.body(1)).hasSize(BYTES);
    }
  }

  /** Its connection is reset then, as it would not see that its streams are. */
  @Test
  void isEnded_whenItReadsNothingAndBeginsRequestsAllTheTime() throws Exception {
    timeouts(Duration.ofSeconds(3), Duration.ZERO);
    pod(RESPONSE);
    try (var caller = RawHttp2.caller(activator.connect(),
        RawHttp2.INITIAL_WINDOW_SIZE, 2 * BYTES)) {
      caller.window(0, 2 * BYTES);
      assertThatThrownBy(() -> {
        for (int stream = 1; stream < 60; stream += 2) {
          get(caller, stream, "/");
          pause(2);
        }
      }).isInstanceOf(IOException.class);
    }
  }

  @Test
  void keepsNoSilentPod_whileItReadsAnotherResponse() throws Exception {
    timeouts(Duration.ofMinutes(10), Duration.ofSeconds(2));
    var ended = new CountDownLatch(1);
    pod(pod -> {
      if (pod.readHead().start().contains("/silent")) {
        pod.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx");
        pod.awaitEnd();
        ended.countDown();
      } else {
        pod.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n");
        Flood.into(pod);
        pod.awaitEnd();
      }
    });
    try (var caller = RawHttp2.caller(activator.connect(),
        RawHttp2.INITIAL_WINDOW_SIZE, 1 << 30)) {
      caller.window(0, 1 << 30);
      get(caller, 1, "/silent");
      get(caller, 3, "/large");

      await().pollInterval(Duration.ofMillis(50)).until(() -> {
        caller.peer().drain(1_000_000);
        return ended.getCount() == 0;
      });
    }
  }
}
