package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.ReadTurn;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.tls.PodTls;
import dev.activator.loop.TcpKeepAlive;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two callers on one event loop: a flood of one is served in turns with the other's request. */
class FairTurnsTest extends WireTest {
  private static final int REQUESTS = 300;
  /** Which of both is read first is chance: in some rounds it is the flood. */
  private static final int ROUNDS = 6;
  /** Makes the loop read as much at once as it ever does. */
  private static final String LARGE = "x".repeat(30_000);

  @Override
  @BeforeEach
  void start() throws IOException {
    activator = new Activator(settings(), new PodTls(TestRevisions.unused()), io(),
        TcpKeepAlive.TO_PODS, 1);
  }

  /**
   * Sends the flood and then the other's request while the loop is busy, so that it finds both when it
   * reads again. Returns how many of the flood's were served before the other's.
   */
  private int servedBefore(RawPeer flooding, byte[] flood) throws Exception {
    try (var other = activator.connect()) {
      other.send("GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(response(other)).startsWith("404 ");
      activator.requests.ended.clear();
      var goOn = new CountDownLatch(1);
      runOnLoop(() -> {
        try {
          goOn.await();
        } catch (InterruptedException stopped) {
          Thread.currentThread().interrupt();
        }
      });
      flooding.send(flood);
      other.send("GET /other HTTP/1.1\r\nHost: x\r\n\r\n");
      goOn.countDown();
      assertThat(response(other)).startsWith("404 ");
    }
    eventually(() -> assertThat(activator.requests.ended).hasSize(REQUESTS + 1));
    return activator.requests.ended.stream().map(seen -> seen.request().path()).toList()
        .indexOf("/other");
  }

  /** Returns when the task has begun. */
  private void runOnLoop(Runnable task) throws InterruptedException {
    var begun = new CountDownLatch(1);
    activator.onLoop(() -> {
      begun.countDown();
      task.run();
    });
    begun.await();
  }

  @Test
  void servesAnotherCallerBetweenPipelinedRequests() throws Exception {
    try (var flooding = activator.connect()) {
      for (int i = 0; i < 5; i++) {
        flooding.send("GET / HTTP/1.1\r\nHost: x\r\nLarge: " + LARGE + LARGE + "\r\n\r\n");
        assertThat(response(flooding)).startsWith("404 ");
      }
      byte[] flood = "GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(REQUESTS)
          .getBytes(StandardCharsets.US_ASCII);
      for (int round = 0; round < ROUNDS; round++) {
        assertThat(servedBefore(flooding, flood)).isLessThan(ReadTurn.MAX_PARTS);
        // And each request of the flood has its answer.
        for (int i = 0; i < REQUESTS; i++) {
          assertThat(response(flooding)).startsWith("404 ");
        }
      }
    }
  }

  @Test
  void servesAnotherCallerBetweenStreams() throws Exception {
    try (var flooding = RawHttp2.caller(activator.connect())) {
      flooding.window(0, 1 << 20);
      for (int i = 0; i < 5; i++) {
        flooding.headers(2 * i + 1, true, ":method", "GET", ":scheme", "http", ":path", "/",
            ":authority", "x", "large", LARGE + LARGE);
        assertThat(flooding.response(2 * i + 1)).startsWith("404 ");
      }
      byte[] head = RawHttp2.encode(":method", "GET", ":scheme", "http", ":path", "/",
          ":authority", "x");
      int stream = 101;
      for (int round = 0; round < ROUNDS; round++) {
        var flood = new ByteArrayOutputStream();
        for (int i = 0; i < REQUESTS; i++) {
          flood.writeBytes(RawHttp2.bytes(RawHttp2.HEADERS,
              RawHttp2.END_HEADERS | RawHttp2.END_STREAM, stream, head));
          stream += 2;
        }
        assertThat(servedBefore(flooding.peer(), flood.toByteArray()))
            .isLessThanOrEqualTo(ReadTurn.MAX_PARTS);
        assertThat(flooding.responses(REQUESTS)).hasSize(REQUESTS);
      }
    }
  }
}
