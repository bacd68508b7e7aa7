package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ReadinessProbeSpec;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Requests that reach a pod, over real sockets. */
class ForwardingTest extends WireTest {
  @Test
  @DisplayName("brings the pod's body to the caller")
  void bringsTheBodyOfThePodToTheCaller() throws Exception {
    String body = new String("grüße".getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    var pod = pod("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n" + body);
    try (var caller = activator.get("/greet?a=%20b")) {
      var head = caller.readHead();

      assertThat(head.start()).isEqualTo("HTTP/1.1 200 OK");
      assertThat(caller.readBody(head)).isEqualTo(body);
      var request = seen();
      assertThat(request.start()).isEqualTo("GET /greet?a=%20b HTTP/1.1");
      assertThat(request.header("Host")).isEqualTo(pod.destination().toString());
      assertThat(request.header("K-Original-Host")).isEqualTo("hello.example");
      assertThat(request.header("K-Proxy-Request")).isEqualTo("activator");
      assertThat(request.header("X-Forwarded-For")).isEqualTo("127.0.0.1");
      assertThat(request.header("User-Agent")).isNull();
      assertThat(request.header("Accept-Encoding")).isNull();
      assertThat(request.header("Knative-Serving-Revision")).isNull();
    }
  }

  @Test
  void namesTheHostOfTheCallerToAContainerWithoutQueueProxy() throws Exception {
    activator.container(ReadinessProbeSpec.CONNECT, 0);
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    try (var caller = activator.get("/")) {
      assertThat(caller.readBody(caller.readHead())).isEqualTo("ok");
      var request = seen();
      assertThat(request.header("Host")).isEqualTo("hello.example");
      assertThat(request.header("K-Original-Host")).isNull();
      assertThat(request.header("X-Forwarded-For")).isEqualTo("127.0.0.1");
    }
  }

  @Test
  void keepsNoConnectionToAContainerThatTakesOneRequestAtATime() throws Exception {
    activator.container(ReadinessProbeSpec.CONNECT, 1);
    var ended = new LinkedBlockingQueue<String>();
    var pod = pod(caller -> {
      ended.add(caller.readHead().start());
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      caller.awaitEnd();
      ended.add("closed");
    });
    try (var caller = activator.connect()) {
      for (int i = 0; i < 3; i++) {
        Activator.request(caller, "GET /" + i + " HTTP/1.1");
        assertThat(caller.readBody(caller.readHead())).isEqualTo("ok");
        assertThat(ended.poll(120, TimeUnit.SECONDS)).isEqualTo("GET /" + i + " HTTP/1.1");
        assertThat(ended.poll(120, TimeUnit.SECONDS)).isEqualTo("closed");
      }
      eventually(() -> assertThat(pod.connections()).isEqualTo(3));
    }
  }

  @Test
  void servesManyRequestsOnOneConnectionEachWay() throws Exception {
    var pod = pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 50; i++) {
        Activator.request(caller, "GET /" + i + " HTTP/1.1");
        assertThat(caller.readBody(caller.readHead())).isEqualTo("ok");
        assertThat(seen().start()).isEqualTo("GET /" + i + " HTTP/1.1");
      }
      eventually(() -> assertThat(pod.connections()).isEqualTo(1));
    }
  }

  @Test
  void answersPipelinedRequestsInOrder() throws Exception {
    var pod = pod(caller -> {
      while (true) {
        String path = caller.readHead().start().split(" ")[1];
        caller.send("HTTP/1.1 200 OK\r\nContent-Length: " + path.length() + "\r\n\r\n" + path);
      }
    });
    try (var caller = activator.connect()) {
      var all = new StringBuilder();
      for (int i = 0; i < 20; i++) {
        all.append("GET /").append(i).append(" HTTP/1.1\r\n")
            .append(String.join("\r\n", Activator.TO_HELLO)).append("\r\n\r\n");
      }
      caller.send(all.toString());

      for (int i = 0; i < 20; i++) {
        assertThat(caller.readBody(caller.readHead())).isEqualTo("/" + i);
      }
      assertThat(pod.connections()).isPositive();
    }
  }

  @Test
  void carriesABodyWithALength() throws Exception {
    var pod = pod(caller -> {
      var head = caller.readHead();
      String body = caller.readBody(head);
      seen.add(head);
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
      caller.readLine();
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST /echo HTTP/1.1", "Content-Length: 11");
      caller.send("hello ");
      caller.send("world");

      assertThat(caller.readBody(caller.readHead())).isEqualTo("hello world");
      assertThat(seen().header("Content-Length")).isEqualTo("11");
      eventually(() -> assertThat(pod.connections()).isEqualTo(1));
    }
  }

  @Test
  void carriesABodyInChunksAndItsTrailers() throws Exception {
    var pod = pod(caller -> {
      seen.add(caller.readHead());
      String body = caller.readChunk() + caller.readChunk();
      while (!caller.readChunk().isEmpty()) {
        body += "?";
      }
      var trailers = caller.readHeadLines();
      caller.sendHead("HTTP/1.1 200 OK", "Trailer: X-Sum", "Transfer-Encoding: chunked");
      caller.send("5\r\n" + body.substring(0, 5) + "\r\n0\r\nX-Sum: " + trailers.getFirst()
          + "\r\nX-More: m\r\n\r\n");
      caller.readLine();
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Transfer-Encoding: chunked");
      caller.send("3\r\nabc\r\n").send("3;x=y\r\ndef\r\n").send("0\r\nX-T: t\r\n\r\n");

      var head = caller.readHead();
      assertThat(head.header("Transfer-Encoding")).isEqualTo("chunked");
      assertThat(head.header("Trailer")).isEqualTo("X-Sum");
      assertThat(caller.readChunk()).isEqualTo("abcde");
      assertThat(caller.readChunk()).isEmpty();
      assertThat(caller.readHeadLines()).containsExactly("X-Sum: X-T: t", "X-More: m");
      assertThat(seen().header("Transfer-Encoding")).isEqualTo("chunked");
      eventually(() -> assertThat(pod.connections()).isEqualTo(1));
    }
  }
}
