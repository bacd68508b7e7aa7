package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.FrameBudget;
import dev.activator.proxy.AbusiveConnectionCounter.Reason;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.RawHttp2;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Frames that cost their sender almost nothing, from callers who read what they are answered. */
class Http2FloodTest extends Http2WireTest {
  private static final int ENHANCE_YOUR_CALM = 11;
  private static final int PRIORITY = 2;
  private static final int PRIORITY_UPDATE = 16;
  private static final int UNKNOWN = 99;

  private static Arguments row(String what, int type, int flags, int stream, int bytes) {
    byte[] payload = new byte[bytes];
    if (bytes > 0) {
      payload[bytes - 1] = 1;
    }
    IntFunction<byte[]> same = _ -> RawHttp2.bytes(type, flags, stream, payload);
    return Arguments.of(what, same);
  }

  static Stream<Arguments> floods() {
    IntFunction<byte[]> malformed = i -> RawHttp2.bytes(RawHttp2.HEADERS,
        RawHttp2.END_HEADERS | RawHttp2.END_STREAM, 2 * i + 3, RawHttp2.encode(get("no-slash")));
    IntFunction<byte[]> resets = i -> {
      var both = new ByteArrayOutputStream();
      both.writeBytes(RawHttp2.bytes(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 2 * i + 3,
          RawHttp2.encode(get("/"))));
      both.writeBytes(RawHttp2.bytes(RawHttp2.RST_STREAM, 0, 2 * i + 3, new byte[4]));
      return both.toByteArray();
    };
    // An increment of 0 is an error of the stream, which the server has to reset.
    IntFunction<byte[]> provoked = i -> {
      var both = new ByteArrayOutputStream();
      both.writeBytes(RawHttp2.bytes(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 2 * i + 3,
          RawHttp2.encode(get("/"))));
      both.writeBytes(RawHttp2.bytes(RawHttp2.WINDOW_UPDATE, 0, 2 * i + 3, new byte[4]));
      return both.toByteArray();
    };
    return Stream.of(row("PING", RawHttp2.PING, 0, 0, 8),
        row("PING that answers nothing", RawHttp2.PING, RawHttp2.ACK, 0, 8),
        row("SETTINGS", RawHttp2.SETTINGS, 0, 0, 0), row("PRIORITY", PRIORITY, 0, 1, 5),
        row("PRIORITY of streams that never begin", PRIORITY, 0, 1_001, 5),
        row("PRIORITY_UPDATE", PRIORITY_UPDATE, 0, 0, 4),
        row("WINDOW_UPDATE of the connection", RawHttp2.WINDOW_UPDATE, 0, 0, 4),
        row("WINDOW_UPDATE of a closed stream", RawHttp2.WINDOW_UPDATE, 0, 1, 4),
        row("RST_STREAM of a closed stream", RawHttp2.RST_STREAM, 0, 1, 4),
        row("frames of an unknown type", UNKNOWN, 0, 0, 0),
        Arguments.of("requests that are reset", resets),
        Arguments.of("requests that the server is made to reset", provoked),
        Arguments.of("heads that are malformed", malformed));
  }

  private RawHttp2 caller() throws IOException {
    var caller = connect();
    caller.headers(1, true, get("/", "k-network-probe", "activator"));
    assertThat(caller.response(1)).isEqualTo("200 activator");
    return caller;
  }

  private static byte[] flood(IntFunction<byte[]> frames, int from, int to) {
    var all = new ByteArrayOutputStream();
    for (int i = from; i < to; i++) {
      all.writeBytes(frames.apply(i));
    }
    return all.toByteArray();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("floods")
  void endsAConnectionWithTooManyCheapFrames(String what, IntFunction<byte[]> frames)
      throws Exception {
    try (var caller = caller()) {
      // given fewer than the budget, after which the connection still serves
      caller.peer().send(flood(frames, 0, 900));
      caller.headers(9_001, true, get("/", "k-network-probe", "activator"));
      RawHttp2.Frame frame;
      do {
        frame = caller.readAny();
      } while (frame.stream() != 9_001 || !frame.ends());

      // when more than the budget follow, refills included
      var more = frames;
      Thread.ofVirtual().start(() -> {
        try {
          caller.peer().send(flood(i -> more.apply(i + 5_000), 0, 5 * FrameBudget.BURST));
        } catch (IOException ended) {
          // What is expected.
        }
      });

      // then it ends; what says so is lost where bytes were on their way that nobody reads any more
      assertThat(caller.awaitEnd()).isIn(ENHANCE_YOUR_CALM, RawHttp2.NO_GOAWAY);
      var ended = activator.server.endedConnections();
      assertThat(ended.count(Reason.CONTROL_FRAMES) + ended.count(Reason.OTHER_LIMIT)).isOne();
    }
  }

  @Test
  @Tag("burst")
  void servesAnIngressWhoseCallersGiveUpWhileTheyAreQueued() throws Exception {
    // given a request that is queued for 200 ms: the others are, too, when it ends
    var slow = new RevisionId("default", "slow-00001");
    var timeout = new RequestTimeouts(Duration.ofSeconds(10), Duration.ofMillis(200),
        Duration.ZERO);
    activator.revisions.put(new Revision(slow, "", PortProtocol.HTTP1, 0, timeout, true, null,
        Map.of(), Map.of(), null));
    try (var ingress = connect(); var clock = activator.connect()) {
      int stream = 1;
      for (int round = 0; round < 8; round++) {
        int first = stream;
        for (; stream < first + 2 * 240; stream += 2) {
          ingress.headers(stream, true, get("/"));
        }
        eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(240));
        clock.send("GET / HTTP/1.1\r\nHost: x\r\nKnative-Serving-Namespace: default\r\n"
            + "Knative-Serving-Revision: slow-00001\r\n\r\n");
        assertThat(response(clock)).startsWith("504 ");

        // when they all give up
        for (int left = first; left < stream; left += 2) {
          ingress.reset(left, 8);
        }
        eventually(() -> assertThat(activator.throttle.queued()).isZero());
      }

      // then the connection still serves
      ingress.headers(stream, true, get("/", "k-network-probe", "activator"));
      assertThat(ingress.response(stream)).isEqualTo("200 activator");
    }
  }

  @Test
  void servesACallerThatSendsThemInProportionToWhatItIsSent() throws Exception {
    try (var caller = connect()) {
      for (int i = 0; i < 1_000; i++) {
        int stream = 2 * i + 1;
        caller.headers(stream, true, get("/", "k-network-probe", "activator"));
        for (int j = 0; j < 5; j++) {
          caller.frame(RawHttp2.PING, 0, 0, new byte[8]);
          caller.window(0, 1);
        }
        RawHttp2.Frame frame;
        do {
          frame = caller.readAny();
          assertThat(frame.type()).isNotEqualTo(RawHttp2.GOAWAY);
        } while (frame.stream() != stream || !frame.ends());
      }
    }
  }
}
