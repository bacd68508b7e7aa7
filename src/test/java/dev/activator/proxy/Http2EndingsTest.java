package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.FrameBudget;
import dev.activator.testing.RawHttp2;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Streams that end before their time, by whomever. */
class Http2EndingsTest extends Http2WireTest {
  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  @Test
  @DisplayName("resets the pod's stream, and gives the permit back, when the caller resets its own")
  void cancelsWhatTheCallerCancels() throws Exception {
    pod((pod, frame) -> {
    });
    try (var caller = connect()) {
      caller.headers(1, false, head("POST", "/"));
      assertThat(next(frames).type()).isEqualTo(RawHttp2.HEADERS);
      assertThat(activator.throttle.inFlight()).isEqualTo(1);

      caller.reset(1, 8);

      var reset = next(frames);
      assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
      assertThat(reset.number()).isEqualTo(8);
      awaitIdle();

      // And the connection goes on.
      caller.headers(3, true, get("/", "k-network-probe", "activator"));
      assertThat(caller.response(3)).isEqualTo("200 activator");
    }
  }

  @Test
  void givesUpThePlaceOfAStreamThatIsReset() throws Exception {
    try (var caller = connect()) {
      // More body than is read while it waits.
      caller.headers(1, false, head("POST", "/"));
      for (int i = 0; i < 4; i++) {
        caller.data(1, false, new byte[16_000]);
      }
      eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(1));

      caller.reset(1, 8);

      eventually(() -> assertThat(activator.throttle.queued()).isZero());
    }
  }

  @Test
  void breaksOffAResponseThatThePodBreaksOff() throws Exception {
    pod((pod, frame) -> {
      pod.headers(frame.stream(), false, ":status", "200");
      pod.data(frame.stream(), false, "half");
      pod.reset(frame.stream(), 2);
    });
    try (var caller = connect()) {
      caller.headers(1, true, get("/"));
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().text()).isEqualTo("half");
      var reset = caller.read();
      assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
      assertThat(reset.number()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @CsvSource({"1, the pod reset the stream: PROTOCOL_ERROR",
      "2, the pod reset the stream: INTERNAL_ERROR",
      "3, the pod reset the stream: FLOW_CONTROL_ERROR", "5, the pod reset the stream",
      "8, the pod cancelled the request"})
  void saysHowThePodHasResetTheStream(int code, String text) throws Exception {
    pod((pod, frame) -> pod.reset(frame.stream(), code));
    try (var caller = connect()) {
      caller.headers(1, true, get("/"));
      assertThat(caller.response(1)).isEqualTo("502 " + text + "\n");
    }
  }

  @Test
  void sendsAgain_whatThePodRefusedUnseen() throws Exception {
    // Each connection takes one request, refuses the next as it goes away, and is then gone.
    var pod = pod((to, frame) -> {
      if (frame.type() == RawHttp2.HEADERS && frame.stream() == 3) {
        ok(to, frame);
      } else if (frame.type() == RawHttp2.HEADERS) {
        to.goAway(3, 0);
      }
    });
    try (var caller = connect()) {
      for (int i = 0; i < 10; i++) {
        caller.headers(2 * i + 1, true, get("/" + i));
        assertThat(caller.response(2 * i + 1)).isEqualTo("200 ok");
      }
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(10));
  }

  @Test
  void sendsAgainAlsoWithABody_whatThePodRefusedUnseen() throws Exception {
    pod((to, frame) -> {
      if (frame.stream() == 3) {
        ok(to, frame);
      } else if (frame.ends()) {
        to.reset(frame.stream(), 7);
        to.goAway(3, 0);
      }
    });
    try (var caller = connect()) {
      for (int i = 0; i < 4; i++) {
        caller.headers(2 * i + 1, false, head("POST", "/" + i));
        caller.data(2 * i + 1, true, "body " + i);
        assertThat(caller.response(2 * i + 1)).isEqualTo("200 ok");
      }
    }
  }

  @Test
  void timesOutARequestThatTakesTooLong() throws Exception {
    activator.timeouts(Duration.ofMillis(50), Duration.ZERO, Duration.ZERO);
    try (var caller = connect()) {
      caller.headers(1, true, get("/"));
      caller.headers(3, true, get("/"));
      assertThat(caller.responses(2)).containsOnlyKeys(1, 3)
          .containsValue("504 activator request timeout");
    }
  }

  @Test
  void stopsAnUnwantedBody() throws Exception {
    try (var caller = connect()) {
      caller.headers(1, false, head("POST", "/", "k-network-probe", "activator"));
      assertThat(caller.response(1)).isEqualTo("200 activator");
      var reset = caller.read();
      assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
      assertThat(reset.number()).isZero();
    }
  }

  @Test
  void sendsNothingOnAStreamThatIsOver_whenTheRequestEndedWhileTheResponseWaitedForAWindow()
      throws Exception {
    pod((pod, frame) -> {
      if (frame.type() == RawHttp2.HEADERS) {
        pod.headers(frame.stream(), false, ":status", "200");
        pod.data(frame.stream(), true, "early");
      }
    });
    try (var caller = connect(RawHttp2.INITIAL_WINDOW_SIZE, 2)) {
      caller.headers(1, false, head("POST", "/"));
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().text()).isEqualTo("ea");
      eventually(() -> assertThat(activator.throttle.inFlight()).isZero());

      caller.data(1, true, "end");
      caller.window(1, 3);
      assertThat(caller.read().text()).isEqualTo("rly");
      caller.headers(3, true, get("/", "k-network-probe", "activator"));

      assertThat(caller.read().stream()).isEqualTo(3);
    }
  }

  @Test
  void breaksOffAResponse_whenThePodResetsTheConnection() throws Exception {
    pod((pod, frame) -> {
      if (frame.type() == RawHttp2.HEADERS) {
        pod.headers(frame.stream(), false, ":status", "200");
        pod.data(frame.stream(), false, "half");
      } else {
        pod.peer().reset();
      }
    });
    try (var caller = connect()) {
      caller.headers(1, false, head("POST", "/"));
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().text()).isEqualTo("half");

      caller.data(1, false, "go on");

      assertThat(caller.read().type()).isEqualTo(RawHttp2.RST_STREAM);
    }
  }

  @Test
  void resetsThePodsStream_whenThePodAnswersWhileTheRestOfTheBodyWaitsForAWindow()
      throws Exception {
    pod((pod, frame) -> {
      if (frame.type() == RawHttp2.DATA) {
        pod.headers(frame.stream(), false, ":status", "200");
        pod.data(frame.stream(), true, "early");
      }
    }, RawHttp2.INITIAL_WINDOW_SIZE, 9_000);
    try (var caller = connect()) {
      caller.headers(1, false, head("POST", "/"));
      caller.data(1, true, new byte[10_000]);
      assertThat(caller.response(1)).isEqualTo("200 early");

      assertThat(next(frames).type()).isEqualTo(RawHttp2.HEADERS);
      assertThat(next(frames).payload()).hasSize(9_000);
      var reset = next(frames);
      assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
      assertThat(reset.number()).isZero();
    }
  }

  @Test
  void answersWithoutAConnection_whenTheCallersDeadlineIsOver() throws Exception {
    var pod = pod((to, frame) -> ok(to, frame));
    try (var caller = connect()) {
      for (int stream = 1; stream < 100; stream += 2) {
        caller.headers(stream, true, get("/", "grpc-timeout", "1n"));
        assertThat(caller.response(stream)).startsWith("504 ");
      }
      assertThat(pod.connections()).isZero();
      // Others are served.
      caller.headers(101, true, get("/"));
      assertThat(caller.response(101)).isEqualTo("200 ok");
    }
  }

  @Test
  void countsOutEachRequest_whenManyDeadlinesEndBeforeThePodIsConnected() throws Exception {
    var ready = new CountDownLatch(1);
    var connections = new AtomicInteger();
    var pod = pod(accepted -> {
      try {
        ready.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      connections.incrementAndGet();
      var http2 = RawHttp2.pod(accepted);
      try {
        while (true) {
          ok(http2, http2.read());
        }
      } finally {
        connections.decrementAndGet();
      }
    });
    activator.throttle.grow(pod.destination(), 2_000);
    List<RawHttp2> callers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      callers.add(connect());
      for (int stream = 1; stream < 400; stream += 2) {
        callers.getLast().headers(stream, true, get("/", "grpc-timeout", "10m"));
      }
    }
    eventually(() -> assertThat(activator.throttle.granted()).isEqualTo(2_000));
    // Ten milliseconds of its clock, which is slow.
    long since = System.nanoTime();
    Awaitility.await().until(() -> System.nanoTime() - since > 250_000_000L);

    ready.countDown();

    for (var caller : callers) {
      assertThat(caller.responses(200)).hasSize(200);
    }
    awaitIdle();
    // And the connections stay, for those that come next.
    int open = connections.get();
    assertThat(open).isPositive();
    for (var caller : callers) {
      caller.headers(401, true, get("/"));
      assertThat(caller.response(401)).isEqualTo("200 ok");
      caller.close();
    }
    assertThat(connections).hasValue(open);
  }

  @Test
  void ignoresWhatWasOnItsWayWhenItResetAStream() throws Exception {
    try (var caller = connect()) {
      caller.headers(1, false, head("POST", "/", "k-network-probe", "activator"));
      assertThat(caller.response(1)).isEqualTo("200 activator");
      assertThat(caller.read().type()).isEqualTo(RawHttp2.RST_STREAM);

      for (int i = 0; i < 2 * FrameBudget.BURST; i++) {
        caller.data(1, false, "x");
      }
      caller.headers(3, true, get("/", "k-network-probe", "activator"));

      assertThat(caller.read().stream()).isEqualTo(3);
    }
  }

  @Test
  void ignoresWhatThePodHadOnItsWayWhenItsStreamWasReset() throws Exception {
    var isReset = new AtomicBoolean();
    pod((pod, frame) -> {
      if (frame.type() == RawHttp2.RST_STREAM) {
        isReset.set(true);
        pod.data(frame.stream(), false, "late");
      } else if (isReset.get() && frame.type() == RawHttp2.HEADERS) {
        pod.headers(frame.stream(), true, ":status", "200");
      }
    });
    try (var caller = connect()) {
      caller.headers(1, true, get("/"));
      assertThat(next(frames).type()).isEqualTo(RawHttp2.HEADERS);
      caller.reset(1, 8);
      assertThat(next(frames).type()).isEqualTo(RawHttp2.RST_STREAM);

      // The second one is behind any answer to what was late.
      for (int stream = 3; stream <= 5; stream += 2) {
        caller.headers(stream, true, get("/"));
        assertThat(caller.read().field(":status")).isEqualTo("200");
      }
      assertThat(frames).extracting(RawHttp2.Frame::type).doesNotContain(RawHttp2.RST_STREAM);
    }
  }

  @ParameterizedTest
  @CsvSource({"HEAD, 200", "GET, 204", "GET, 205", "GET, 304"})
  void dropsABody_whenTheResponseMayHaveNone(String method, String status) throws Exception {
    pod((pod, frame) -> {
      pod.headers(frame.stream(), false, ":status", status);
      pod.data(frame.stream(), false, "not ");
      pod.data(frame.stream(), true, "allowed");
    });
    try (var caller = connect()) {
      for (int stream = 1; stream < 6; stream += 2) {
        caller.headers(stream, true, head(method, "/"));
        assertThat(caller.response(stream)).isEqualTo(status + " ");
      }
    }
  }

  @Test
  void servesTheLargestStreamAndDrains_whenNoOtherCanFollow() throws Exception {
    CompletableFuture<Void> drained;
    try (var caller = connect()) {
      caller.headers(Integer.MAX_VALUE, true, get("/"));
      eventually(() -> assertThat(activator.throttle.queued()).isOne());
      drained = activator.server.drain().toCompletableFuture();
      assertThat(caller.read(RawHttp2.GOAWAY).number()).isZero();
      var ping = caller.read(RawHttp2.PING);
      caller.frame(RawHttp2.PING, RawHttp2.ACK, 0, ping.payload());

      pod((pod, frame) -> ok(pod, frame));

      assertThat(caller.response(Integer.MAX_VALUE)).isEqualTo("200 ok");
      caller.awaitEnd();
    }
    drained.get(120, TimeUnit.SECONDS);
  }
}
