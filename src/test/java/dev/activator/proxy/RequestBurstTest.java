package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Thousands of queued requests whose wait ends at the same moment. */
@Tag("burst")
class RequestBurstTest extends Http2WireTest {
  private static final int CONNECTIONS = 10;
  private static final int STREAMS = 200;
  private static final int REQUESTS = CONNECTIONS * STREAMS;
  private static final int HTTP1_CALLERS = 300;

  private final List<RawHttp2> callers = new ArrayList<>();
  private final List<RawPeer> http1Callers = new ArrayList<>();

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  @AfterEach
  void callersLeave() throws IOException {
    for (var caller : callers) {
      caller.close();
    }
    for (var caller : http1Callers) {
      caller.close();
    }
  }

  private void queue() throws IOException {
    send();
    eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(REQUESTS));
  }

  private void send(String... fields) throws IOException {
    for (int i = 0; i < CONNECTIONS; i++) {
      var caller = connect();
      callers.add(caller);
      for (int stream = 0; stream < STREAMS; stream++) {
        caller.headers(2 * stream + 1, true, get("/", fields));
      }
    }
  }

  private void assertAllAre(String status) throws IOException {
    for (var caller : callers) {
      assertThat(caller.responses(STREAMS).values()).hasSize(STREAMS)
          .allMatch(response -> response.startsWith(status));
    }
  }

  @Test
  void servesAll_whenAllMayRun() throws Exception {
    var pod = http2Pod();
    queue();

    activator.throttle.grow(pod.destination(), REQUESTS);

    assertAllAre("200");
  }

  @Test
  void timesOutAll_whenTheirTimeIsOver() throws Exception {
    activator.timeouts(Duration.ofMinutes(10), Duration.ofMillis(50), Duration.ZERO);
    send();

    assertAllAre("504");
  }

  @Test
  void endsAll_whenTheirDeadlinesAreOverAsTheyRun() throws Exception {
    activator.throttle.grow(http2Pod().destination(), REQUESTS);

    send("grpc-timeout", "1n");

    assertAllAre("504");
  }

  @Test
  void givesUpAll_whenTheirCallersLeave() throws Exception {
    queue();

    for (var caller : callers) {
      caller.close();
    }

    eventually(() -> assertThat(activator.throttle.queued()).isZero());
  }

  @Test
  void servesAllOfHttp1_whenAllMayRun() throws Exception {
    for (int i = 0; i < HTTP1_CALLERS; i++) {
      http1Callers.add(activator.get("/"));
    }
    eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(HTTP1_CALLERS));

    activator.throttle.grow(http1Pod().destination(), HTTP1_CALLERS);

    for (var caller : http1Callers) {
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  private ScriptedPod http1Pod() throws IOException {
    return idlePod(caller -> {
      while (true) {
        caller.readHead();
        caller.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      }
    });
  }

  private ScriptedPod http2Pod() throws IOException {
    return idlePod(caller -> {
      var pod = RawHttp2.pod(caller);
      while (true) {
        ok(pod, pod.read());
      }
    });
  }
}
