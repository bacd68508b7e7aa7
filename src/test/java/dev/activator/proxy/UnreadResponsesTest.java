package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Callers that ask for much and take nothing of it. */
class UnreadResponsesTest extends Http2WireTest {
  private static final int BUDGET_BYTES = 1 << 20;
  private static final int CONNECTIONS = 20;
  private static final int STREAMS = 100;
  private static final int BODY_BYTES = 200_000;

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.unread(BUDGET_BYTES);
  }

  /** A pod that sends of each large body as much as it is allowed to, and small ones whole. */
  private void bodies() throws Exception {
    pod((pod, frame) -> {
      if (!frame.ends()) {
        return;
      }
      if (!"/large".equals(frame.field(":path"))) {
        ok(pod, frame);
        return;
      }
      pod.headers(frame.stream(), false, ":status", "200", "content-length", "" + BODY_BYTES);
      pod.data(frame.stream(), false, new byte[16_384]);
    });
  }

  @Test
  void takesAWindowOfAnUnreadBodyAndNoMore() throws Exception {
    pod((pod, frame) -> {
      if (frame.ends()) {
        pod.headers(frame.stream(), false, ":status", "200");
        pod.data(frame.stream(), false, new byte[16_384]);
      }
    });
    try (var caller = connect(RawHttp2.INITIAL_WINDOW_SIZE, 1)) {
      caller.headers(1, true, get("/"));
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().payload()).hasSize(1);

      // What is counted is what came, and no more is asked for.
      eventually(() -> assertThat(activator.unread.total()).isEqualTo(16_383));
      assertThat(frames).noneMatch(frame -> frame.type() == RawHttp2.WINDOW_UPDATE);

      caller.reset(1, 8);
      eventually(() -> assertThat(activator.unread.total()).isZero());
    }
  }

  @Test
  void endsTheLargestSoThatOthersAreServedAndNothingIsLeftOver() throws Exception {
    bodies();
    var unread = new ArrayList<RawHttp2>();
    try (var other = connect()) {
      // when 2,000 responses come that nobody reads, 32 MB of them at once
      int id = 1;
      for (int i = 0; i < CONNECTIONS; i++) {
        var caller = connect(RawHttp2.INITIAL_WINDOW_SIZE, 1);
        unread.add(caller);
        for (int stream = 1; stream < 2 * STREAMS; stream += 2) {
          caller.headers(stream, true, get("/large"));
        }
        // then others are answered all the while
        other.headers(id, true, get("/"));
        assertThat(other.response(id)).isEqualTo("200 ok");
        id += 2;
      }
      eventually(() -> assertThat(activator.arrivals.get())
          .isEqualTo(CONNECTIONS * STREAMS + CONNECTIONS));

      // and what is held stays within the budget
      eventually(() -> {
        assertThat(activator.unread.total()).isLessThanOrEqualTo(BUDGET_BYTES);
        assertThat(activator.unread.endedOverBudget()).isGreaterThan(1_900);
      });

      // and when they leave nothing is held
      for (var caller : unread) {
        caller.close();
      }
      eventually(() -> {
        assertThat(activator.unread.total()).isZero();
        assertThat(activator.counted.get()).isZero();
      });
      other.headers(id, true, get("/"));
      assertThat(other.response(id)).isEqualTo("200 ok");
    }
  }

  @Test
  void endsCallersInHttp1ThatReadNothing() throws Exception {
    pod(pod -> {
      if (!pod.readHead().start().startsWith("GET /large")) {
        pod.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        return;
      }
      pod.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
      Flood.into(pod);
      pod.awaitEnd();
    });
    var unread = new ArrayList<RawPeer>();
    for (int i = 0; i < 40; i++) {
      unread.add(activator.get("/large"));
    }

    eventually(() -> assertThat(activator.unread.endedOverBudget()).isPositive());
    eventually(
        () -> assertThat(activator.unread.total()).isBetween(1L, (long) BUDGET_BYTES));
    try (var other = activator.get("/")) {
      assertThat(response(other)).isEqualTo("200 ok");
    }

    for (var caller : unread) {
      caller.close();
    }
    eventually(() -> assertThat(activator.unread.total()).isZero());
    eventually(() -> assertThat(activator.counted.get()).isZero());
  }

  @Test
  void endsAStreamWhoseCallerTakesNothingOfACompleteResponse() throws Exception {
    // The pod has as long for its answer.
    activator.timeouts(Duration.ofMinutes(2), Duration.ZERO, Duration.ofSeconds(5));
    pod((pod, frame) -> {
      if (frame.ends()) {
        pod.headers(frame.stream(), false, ":status", "200");
        pod.data(frame.stream(), true, new byte[1_000]);
      }
    });
    try (var caller = connect(RawHttp2.INITIAL_WINDOW_SIZE, 1)) {
      caller.headers(1, true, get("/"));
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().payload()).hasSize(1);

      assertThat(caller.read(RawHttp2.RST_STREAM).stream()).isEqualTo(1);
      assertThat(activator.unread.endedIdle()).isEqualTo(1);
      eventually(() -> assertThat(activator.unread.total()).isZero());
      assertThat(activator.requests.ended).hasSize(1);
    }
  }

  @Test
  void countsNothingOfWhatIsTaken() throws Exception {
    bodies();
    try (var caller = connect()) {
      for (int id : List.of(1, 3, 5)) {
        caller.headers(id, true, get("/"));
        assertThat(caller.response(id)).isEqualTo("200 ok");
      }
    }
    eventually(() -> assertThat(activator.unread.total()).isZero());
  }
}
