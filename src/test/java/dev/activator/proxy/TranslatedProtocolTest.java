package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawHttp2.Frame;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Requests to containers whose port has another version of HTTP than the caller. */
class TranslatedProtocolTest extends WireTest {
  private static final int CANCEL = 8;
  private final BlockingQueue<List<String>> received = new LinkedBlockingQueue<>();
  private final BlockingQueue<Frame> frames = new LinkedBlockingQueue<>();

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  private void port(PortProtocol protocol) {
    activator.revisions.put(new Revision(Activator.HELLO, "", protocol, 0,
        RequestTimeouts.DEFAULT, true, ReadinessProbeSpec.CONNECT, Map.of(), Map.of(), null));
  }

  private static String[] head(String method, String... fields) {
    return Stream.concat(
        Stream.of(":method", method, ":scheme", "http", ":path", "/a?b=c", ":authority",
            "hello.example", "knative-serving-namespace", "default", "knative-serving-revision",
            "hello-00001"),
        Stream.of(fields)).toArray(String[]::new);
  }

  // HTTP/2 to HTTP/1.

  /** A pod of HTTP/1 that answers each request with this; the lines and the chunks it got are kept. */
  private void http1Pod(String response) throws IOException {
    port(PortProtocol.HTTP1);
    pod(caller -> {
      while (true) {
        var head = caller.readHead();
        seen.add(head);
        if (head.header("Transfer-Encoding") != null) {
          var lines = Stream.<String>builder();
          for (String chunk = caller.readChunk(); !chunk.isEmpty(); chunk = caller.readChunk()) {
            lines.add(chunk);
          }
          caller.readHeadLines().forEach(lines);
          received.add(lines.build().toList());
        } else {
          received.add(List.of(caller.readBody(head)));
        }
        caller.send(response);
      }
    });
  }

  private RawHttp2 http2() throws IOException {
    return RawHttp2.caller(activator.connect());
  }

  @Test
  void getsAResponseInHttp2_withoutWhatIsForOneConnection_andWithTrailers() throws Exception {
    http1Pod("HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nKeep-Alive: timeout=5\r\n"
        + "X-Hop: 1\r\nX-Kept: 2\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "2\r\nok\r\n0\r\nX-Sum: 3\r\n\r\n");
    try (var caller = http2()) {
      caller.headers(1, true,
          head("GET", "te", "trailers", "cookie", "a=1", "x-some", "thing", "cookie", "b=2"));

      assertThat(caller.read().fields()).containsExactly(":status: 200", "x-kept: 2",
          "trailer: X-Sum");
      assertThat(caller.read().text()).isEqualTo("ok");
      var trailers = caller.read();
      assertThat(trailers.fields()).containsExactly("x-sum: 3");
      assertThat(trailers.ends()).isTrue();
    }
    var head = seen();
    assertThat(head.start()).isEqualTo("GET /a?b=c HTTP/1.1");
    assertThat(head.lines()).containsExactlyInAnyOrder("Host: hello.example", "TE: trailers",
        "cookie: a=1; b=2", "x-some: thing", "X-Forwarded-For: 127.0.0.1",
        "K-Proxy-Request: activator");
  }

  @Test
  void framesBodiesAsHttp1Does() throws Exception {
    http1Pod("HTTP/1.1 204 No Content\r\n\r\n");
    try (var caller = http2()) {
      caller.headers(1, false, head("POST"));
      caller.data(1, false, "abc");
      caller.headers(1, true, "x-end", "1");
      assertThat(caller.response(1)).isEqualTo("204 ");
      assertThat(seen().header("Content-Length")).isNull();
      assertThat(next(received)).containsExactly("abc", "x-end: 1");

      caller.headers(3, false, head("POST", "content-length", "3"));
      caller.data(3, true, "abc");
      assertThat(caller.response(3)).isEqualTo("204 ");
      assertThat(seen().header("Transfer-Encoding")).isNull();
      assertThat(next(received)).containsExactly("abc");

      caller.headers(5, true, head("POST"));
      assertThat(caller.response(5)).isEqualTo("204 ");
      assertThat(seen().header("Content-Length")).isEqualTo("0");

      caller.headers(7, true, head("DELETE"));
      assertThat(caller.response(7)).isEqualTo("204 ");
      var bodyless = seen();
      assertThat(bodyless.header("Content-Length")).isNull();
      assertThat(bodyless.header("Transfer-Encoding")).isNull();
    }
  }

  @Test
  void waitsForThe100OfThePod_andPassesOtherInterimResponsesOn() throws Exception {
    port(PortProtocol.HTTP1);
    pod(caller -> {
      var head = caller.readHead();
      seen.add(head);
      caller.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: close\r\n\r\n"
          + "HTTP/1.1 100 Continue\r\n\r\n");
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n" + caller.readBody(head));
    });
    try (var caller = http2()) {
      caller.headers(1, false, head("POST", "expect", "100-continue", "content-length", "3"));
      assertThat(caller.read().fields()).containsExactly(":status: 103", "link: </a>");
      assertThat(caller.read().fields()).containsExactly(":status: 100");
      caller.data(1, true, "abc");
      assertThat(caller.response(1)).isEqualTo("200 abc");
    }
  }

  @Test
  void resetsTheStream_whenThePodClosesWithinAResponse() throws Exception {
    port(PortProtocol.HTTP1);
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc");
    });
    try (var caller = http2()) {
      caller.headers(1, true, head("GET"));
      assertThat(caller.read(RawHttp2.RST_STREAM).stream()).isEqualTo(1);
    }
  }

  @Test
  void closesThePodsConnection_whenTheCallerResetsTheStream() throws Exception {
    port(PortProtocol.HTTP1);
    pod(caller -> {
      seen.add(caller.readHead());
      caller.awaitEnd();
      received.add(List.of("ended"));
    });
    try (var caller = http2()) {
      caller.headers(1, true, head("GET"));
      seen();
      caller.reset(1, CANCEL);
      assertThat(next(received)).containsExactly("ended");
    }
  }

  @Test
  void endsTheStreamWithABodyThatEndsWithTheConnection() throws Exception {
    port(PortProtocol.HTTP1);
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.0 200 OK\r\n\r\nabc");
    });
    try (var caller = http2()) {
      caller.headers(1, true, head("GET"));
      assertThat(caller.response(1)).isEqualTo("200 abc");
    }
  }

  // HTTP/1 to HTTP/2.

  private interface Answers {
    void answer(RawHttp2 pod, Frame frame) throws IOException;
  }

  /** A pod of HTTP/2 that answers each frame; those it got are kept. */
  private void http2Pod(Answers answers) throws IOException {
    port(PortProtocol.H2C);
    pod(caller -> {
      var pod = RawHttp2.pod(caller);
      while (true) {
        var frame = pod.read();
        frames.add(frame);
        answers.answer(pod, frame);
      }
    });
  }

  @Test
  void getsAResponseInHttp1_withTrailersInChunks() throws Exception {
    http2Pod((pod, frame) -> {
      if (frame.ends()) {
        pod.headers(frame.stream(), false, ":status", "103", "link", "</a>");
        pod.headers(frame.stream(), false, ":status", "200", "x-kept", "2");
        pod.data(frame.stream(), false, "ok");
        pod.headers(frame.stream(), true, "grpc-status", "0");
      }
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET /a?b=c HTTP/1.1", "Connection: X-Hop, TE", "X-Hop: 1",
          "TE: trailers", "Keep-Alive: timeout=5", "Cookie: a=1; b=2");
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 103 Early Hints");
      var head = caller.readHead();
      assertThat(head.start()).isEqualTo("HTTP/1.1 200 OK");
      assertThat(head.lines()).containsExactlyInAnyOrder("x-kept: 2", "Transfer-Encoding: chunked");
      assertThat(caller.readChunk()).isEqualTo("ok");
      assertThat(caller.readChunk()).isEmpty();
      assertThat(caller.readHeadLines()).containsExactly("grpc-status: 0");
    }
    assertThat(next(frames).fields()).containsExactlyInAnyOrder(":method: GET", ":scheme: http",
        ":path: /a?b=c", ":authority: hello.example", "te: trailers", "cookie: a=1; b=2",
        "x-forwarded-for: 127.0.0.1", "k-proxy-request: activator");
  }

  @Test
  void sendsChunksAndTheirTrailersAsFrames() throws Exception {
    http2Pod((pod, frame) -> {
      if (frame.ends()) {
        pod.headers(frame.stream(), true, ":status", "204");
      }
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Transfer-Encoding: chunked");
      caller.send("3\r\nabc\r\n0\r\nX-End: 1\r\n\r\n");
      assertThat(response(caller)).isEqualTo("204 ");
    }
    assertThat(next(frames).field("transfer-encoding")).isNull();
    assertThat(next(frames).text()).isEqualTo("abc");
    var trailers = next(frames);
    assertThat(trailers.fields()).containsExactly("x-end: 1");
    assertThat(trailers.ends()).isTrue();
  }

  @Test
  void endsTheBodyWithTheConnection_forACallerOfHttp10() throws Exception {
    http2Pod((pod, frame) -> {
      pod.headers(frame.stream(), false, ":status", "200");
      pod.data(frame.stream(), true, "ok");
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.0");
      assertThat(caller.readToEnd()).startsWith("HTTP/1.0 200 OK\r\n").endsWith("\r\n\r\nok");
    }
  }

  @Test
  void hasNoAuthority_ifTheCallerNamesNoHost() throws Exception {
    http2Pod((pod, frame) -> pod.headers(frame.stream(), true, ":status", "204"));
    try (var caller = activator.connect()) {
      caller.send(
          "GET / HTTP/1.0\r\nKnative-Serving-Namespace: default\r\nKnative-Serving-Revision: hello-00001\r\n\r\n");
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.0 204 No Content");
    }
    assertThat(next(frames).fields()).containsExactlyInAnyOrder(":method: GET", ":scheme: http",
        ":path: /",
        "x-forwarded-for: 127.0.0.1", "k-proxy-request: activator");
  }

  @Test
  void breaksTheResponseOff_whenThePodResetsTheStream() throws Exception {
    http2Pod((pod, frame) -> {
      pod.headers(frame.stream(), false, ":status", "200");
      pod.data(frame.stream(), false, "abc");
      pod.reset(frame.stream(), CANCEL);
    });
    try (var caller = activator.get("/")) {
      assertThat(caller.readToEnd()).doesNotContain("\r\n0\r\n");
    }
  }

  @Test
  void resetsTheStream_whenTheCallerCloses() throws Exception {
    http2Pod((pod, frame) -> {
    });
    try (var _ = activator.get("/")) {
      assertThat(next(frames).type()).isEqualTo(RawHttp2.HEADERS);
    }
    assertThat(next(frames).type()).isEqualTo(RawHttp2.RST_STREAM);
  }

  // What cannot be translated.

  @Test
  void sendsGrpcInHttp2_whateverThePort() throws Exception {
    http2Pod((pod, frame) -> pod.headers(frame.stream(), true, ":status", "200", "grpc-status",
        "0"));
    port(PortProtocol.HTTP1);
    try (var caller = http2()) {
      caller.headers(1, true, head("POST", "content-type", "application/grpc"));
      assertThat(caller.read().fields()).containsExactly(":status: 200", "grpc-status: 0");
    }
  }

  @Test
  void ignoresAnOfferOfTls() throws Exception {
    http2Pod((pod, frame) -> pod.headers(frame.stream(), true, ":status", "204"));
    try (var caller = activator.get("/", "Connection: keep-alive", "Upgrade: TLS/1.2",
        "Connection: Upgrade")) {
      assertThat(response(caller)).isEqualTo("204 ");
    }
  }

  @Test
  void sendsAnUpgradeInHttp1_whateverThePort() throws Exception {
    pod(caller -> caller.sendHead(caller.readHead().start().replace("GET / ", "")
        + " 101 Switching Protocols", "Connection: Upgrade", "Upgrade: tcp"));
    port(PortProtocol.H2C);
    try (var caller = activator.get("/", "Connection: Upgrade", "Upgrade: tcp")) {
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 101 Switching Protocols");
    }
  }
}
