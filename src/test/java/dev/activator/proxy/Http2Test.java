package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Requests in HTTP/2 without TLS, and their responses. */
class Http2Test extends Http2WireTest {
  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  @Test
  @DisplayName("sends an HTTP/2 request to the pod in HTTP/2, whatever the revision's protocol")
  void passesARequestOn() throws Exception {
    pod(Http2Test::ok);
    try (var caller = connect()) {
      caller.headers(1, true, get("/a?b=c", "te", "trailers", "x-some", "thing"));

      var head = caller.read();
      assertThat(head.fields()).containsExactly(":status: 200", "x-a: b");
      assertThat(caller.body(1)).isEqualTo("ok");
    }
    var asked = next(frames);
    // One frame: it ends with its head.
    assertThat(asked.ends()).isTrue();
    assertThat(asked.field(":method")).isEqualTo("GET");
    assertThat(asked.field(":scheme")).isEqualTo("http");
    assertThat(asked.field(":path")).isEqualTo("/a?b=c");
    assertThat(asked.field(":authority")).startsWith("127.0.0.1:");
    assertThat(asked.fields()).contains("te: trailers", "x-some: thing",
        "k-original-host: hello.example", "k-proxy-request: activator",
        "x-forwarded-for: 127.0.0.1");
    assertThat(asked.fields()).noneMatch(field -> field.startsWith("knative-serving-"))
        .noneMatch(field -> field.startsWith("host:"));
  }

  @Test
  void joinsCookiesThatTheCallerHasSplit() throws Exception {
    pod(Http2Test::ok);
    try (var caller = connect()) {
      caller.headers(1, true, get("/", "cookie", "a=1", "x-some", "thing", "cookie", "b=2"));
      assertThat(caller.read().field(":status")).isEqualTo("200");
    }
    assertThat(next(frames).fields().stream().filter(field -> field.startsWith("cookie")))
        .containsExactly("cookie: a=1; b=2");
  }

  @Test
  void passesBodiesAndTrailersOnBothWays() throws Exception {
    pod((pod, frame) -> {
      if (frame.ends()) {
        pod.headers(frame.stream(), false, ":status", "200");
        pod.data(frame.stream(), false, "answer");
        pod.headers(frame.stream(), true, "x-sum", "2");
      }
    });
    try (var caller = connect()) {
      caller.headers(1, false, head("POST", "/", "trailer", "x-end"));
      caller.data(1, false, "abc").data(1, false, "def");
      caller.headers(1, true, "x-end", "1");

      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().text()).isEqualTo("answer");
      var trailers = caller.read();
      assertThat(trailers.fields()).containsExactly("x-sum: 2");
      assertThat(trailers.ends()).isTrue();
    }
    next(frames);
    var body = new StringBuilder();
    var part = next(frames);
    for (; part.type() == RawHttp2.DATA; part = next(frames)) {
      body.append(part.text());
    }
    assertThat(body).hasToString("abcdef");
    assertThat(part.fields()).containsExactly("x-end: 1");
    assertThat(part.ends()).isTrue();
  }

  @Test
  void sendsAHeadOnAnOpenConnectionBeforeAnythingOfTheBodyHasCome() throws Exception {
    pod((pod, frame) -> {
      if (frame.type() == RawHttp2.HEADERS) {
        pod.headers(frame.stream(), frame.ends(), ":status", "200");
      } else if (frame.ends()) {
        pod.data(frame.stream(), true, "ok");
      }
    });
    try (var caller = connect()) {
      caller.headers(1, true, get("/1"));
      assertThat(caller.read().field(":status")).isEqualTo("200");

      // when a caller waits for the head of the response before it sends its body
      caller.headers(3, false, head("POST", "/3"));

      assertThat(caller.read().field(":status")).isEqualTo("200");
      caller.data(3, true, "abc");
      assertThat(caller.body(3)).isEqualTo("ok");
    }
  }

  @Test
  void keepsAnAnswerThatIsOnlyAHeadOneFrame() throws Exception {
    pod((pod, frame) -> pod.headers(frame.stream(), true, ":status", "200", "grpc-status", "12"));
    try (var caller = connect()) {
      caller.headers(1, true, get("/"));

      var only = caller.read();
      assertThat(only.fields()).containsExactly(":status: 200", "grpc-status: 12");
      assertThat(only.ends()).isTrue();
    }
  }

  @Test
  void passesOnInterimResponses() throws Exception {
    pod((pod, frame) -> {
      pod.headers(frame.stream(), false, ":status", "103", "link", "</a>");
      pod.headers(frame.stream(), true, ":status", "204");
    });
    try (var caller = connect()) {
      caller.headers(1, true, get("/"));
      assertThat(caller.read().fields()).containsExactly(":status: 103", "link: </a>");
      assertThat(caller.read().fields()).containsExactly(":status: 204");
    }
  }

  @Test
  void servesManyStreamsAtOnceOverOneConnectionToThePod() throws Exception {
    BlockingQueue<Runnable> answers = new LinkedBlockingQueue<>();
    var pod = pod((to, frame) -> {
      answers.add(() -> {
        try {
          to.headers(frame.stream(), false, ":status", "200");
          to.data(frame.stream(), true, frame.field(":path"));
        } catch (IOException ended) {
          throw new AssertionError(ended);
        }
      });
      if (answers.size() == 50) {
        // Last first.
        List.copyOf(answers).reversed().forEach(Runnable::run);
        answers.clear();
      }
    });
    try (var caller = connect()) {
      for (int i = 0; i < 50; i++) {
        caller.headers(2 * i + 1, true, get("/" + i));
      }
      assertThat(caller.responses(50)).hasSize(50).allSatisfy((stream,
          response) -> assertThat(response).isEqualTo("200 /" + (stream - 1) / 2));
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(1));
  }

  @Test
  void opensAnotherConnectionWhereThePodTakesNoMoreOnTheFirst() throws Exception {
    var pod = pod((to, frame) -> {
      if (frames.size() >= 5) {
        to.headers(frame.stream(), true, ":status", "200");
      }
    }, RawHttp2.MAX_CONCURRENT_STREAMS, 2);
    try (var caller = connect()) {
      for (int i = 0; i < 5; i++) {
        caller.headers(2 * i + 1, true, get("/" + i));
      }
      eventually(() -> assertThat(frames).hasSize(5));
      assertThat(frames.stream().filter(frame -> frame.type() == RawHttp2.HEADERS)).hasSize(5);
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(3));
  }

  @Test
  void saysWhyARequestWillNotRun() throws Exception {
    try (var caller = connect()) {
      caller.headers(1, true, get("/"));
      eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(1));
      activator.throttle.reject(new Rejection.QueueFull(Activator.HELLO, 1));
      var head = caller.read();
      assertThat(head.field(":status")).isEqualTo("503");
      assertThat(head.field("content-type")).isEqualTo("text/plain; charset=utf-8");
      assertThat(caller.body(1)).isEqualTo("pending request queue full\n");
    }
  }

  @Test
  void drainsAfterTheLastResponse() throws Exception {
    pod(Http2Test::ok);
    activator.throttle.stop();
    try (var caller = connect()) {
      caller.headers(1, true, get("/1"));
      eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(1));

      var drained = activator.server.drain().toCompletableFuture();

      var first = caller.read();
      assertThat(first.type()).isEqualTo(RawHttp2.GOAWAY);
      assertThat(first.text().substring(0, 4)).isEqualTo("\u007f\u00ff\u00ff\u00ff");
      assertThat(caller.read().type()).isEqualTo(RawHttp2.PING);
      caller.frame(RawHttp2.PING, RawHttp2.ACK, 0, new byte[8]);
      var second = caller.read();
      assertThat(second.type()).isEqualTo(RawHttp2.GOAWAY);
      assertThat(second.text().substring(0, 4)).isEqualTo("\0\0\0\1");
      assertThat(drained).isNotDone();

      pod(Http2Test::ok);
      assertThat(caller.response(1)).isEqualTo("200 ok");
      assertThat(caller.awaitEnd()).isEqualTo(-1);
      caller.close();
      drained.get(120, TimeUnit.SECONDS);
    }
  }

  @Test
  void readsItsFirstBytesOneByOne() throws Exception {
    pod(Http2Test::ok);
    try (var peer = activator.connect()) {
      for (byte one : "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII)) {
        peer.send(new byte[]{one});
      }
      peer.send(RawHttp2.bytes(RawHttp2.SETTINGS, 0, 0, new byte[0]));
      assertThat(peer.read(9).charAt(3)).isEqualTo((char) RawHttp2.SETTINGS);
    }
  }
}
