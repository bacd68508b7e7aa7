package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class StrictnessTest extends WireTest {
  private static final String TO_HELLO = String.join("\r\n", Activator.TO_HELLO) + "\r\n";
  private static final String POST = "POST / HTTP/1.1\r\n" + TO_HELLO;

  @Override
  ProxySettings settings() {
    return Activator.settings(ProxySettings.of("x").hosts(), new Addressing.ByPod(),
        Duration.ofSeconds(2));
  }

  static Stream<Arguments> refused() {
    return Stream.of(
        Arguments.of("length and coding", 400,
            POST + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Arguments.of("coding and length", 400,
            POST + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
        Arguments.of("two lengths", 400,
            POST + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde"),
        Arguments.of("two lengths in HTTP/1.0", 400, "POST / HTTP/1.0\r\n" + TO_HELLO
            + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde"),
        Arguments.of("a list of lengths", 400, POST + "Content-Length: 4, 5\r\n\r\nabcde"),
        Arguments.of("a length with a sign", 400, POST + "Content-Length: +4\r\n\r\nabcd"),
        Arguments.of("a negative length", 400, POST + "Content-Length: -4\r\n\r\nabcd"),
        Arguments.of("a length in hex", 400, POST + "Content-Length: 0x4\r\n\r\nabcd"),
        Arguments.of("a length that is huge", 400,
            POST + "Content-Length: 99999999999999999999\r\n\r\nabcd"),
        Arguments.of("an empty length", 400, POST + "Content-Length: \r\n\r\nabcd"),
        Arguments.of("a folded line", 400, POST + "X-A: b\r\n c\r\n\r\n"),
        Arguments.of("a folded coding", 400,
            POST + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
        Arguments.of("a bare carriage return in a value", 400, POST + "X-A: b\rc\r\n\r\n"),
        Arguments.of("a bare carriage return in the line", 400,
            "POST\r/ HTTP/1.1\r\n" + TO_HELLO + "\r\n"),
        Arguments.of("bare line feeds", 400, POST.replace("\r", "") + "\n"),
        Arguments.of("a blank before the colon", 400, POST + "Content-Length : 4\r\n\r\nabcd"),
        Arguments.of("a blank before the name", 400,
            "POST / HTTP/1.1\r\n X: y\r\n" + TO_HELLO + "\r\n"),
        Arguments.of("no name", 400, POST + ": x\r\n\r\n"),
        Arguments.of("no colon", 400, POST + "X\r\n\r\n"),
        Arguments.of("a NUL in a value", 400, POST + "X-A: b\0c\r\n\r\n"),
        Arguments.of("a NUL in a name", 400, POST + "X\0A: b\r\n\r\n"),
        Arguments.of("a NUL in the target", 400, "GET /a\0b HTTP/1.1\r\n" + TO_HELLO + "\r\n"),
        Arguments.of("no host", 400, "GET / HTTP/1.1\r\n\r\n"),
        Arguments.of("two hosts", 400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        Arguments.of("a tunnel", 400, "CONNECT a:80 HTTP/1.1\r\n" + TO_HELLO + "\r\n"),
        Arguments.of("no version", 400, "GET /\r\n" + TO_HELLO + "\r\n"),
        Arguments.of("another version", 505, "GET / HTTP/1.9\r\n" + TO_HELLO + "\r\n"),
        Arguments.of("another coding", 501,
            POST + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        Arguments.of("chunks twice", 400,
            POST + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
        Arguments.of("a coding that is not chunked", 400,
            POST + "Transfer-Encoding: identity\r\n\r\n"),
        Arguments.of("chunks in HTTP/1.0", 400, "POST / HTTP/1.0\r\n" + TO_HELLO
            + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Arguments.of("another expectation", 417, POST + "Expect: more\r\n\r\n"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refused")
  void refusesWhatIsAmbiguousAndEndsTheConnection(String what, int status, String request)
      throws Exception {
    var pod = pod("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    try (var caller = activator.connect()) {
      caller.send(request);

      var head = caller.readHead();
      assertThat(head.start()).matches("HTTP/1\\.[01] " + status + " .*");
      assertThat(head.header("Connection")).isEqualTo("close");
      caller.readBody(head);
      assertThat(caller.readToEnd()).isEmpty();
    }
    assertThat(pod.connections()).isZero();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refused")
  void refusesItAsWellWhenItComesByteByByte(String what, int status, String request)
      throws Exception {
    var pod = pod("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    try (var caller = activator.connect()) {
      try {
        for (byte one : request.getBytes(StandardCharsets.ISO_8859_1)) {
          caller.send(new byte[]{one});
        }
      } catch (IOException refusedBeforeItsEnd) {
        // It need not wait for the rest.
      }

      assertThat(caller.readHead().start()).contains(" " + status + " ");
    }
    assertThat(pod.connections()).isZero();
  }

  static Stream<Arguments> last() {
    String get = "GET /%s HTTP/1.1\r\n" + TO_HELLO;
    return Stream.of(
        Arguments.of("one that says so", get.formatted("1") + "\r\n" + get.formatted("2")
            + "Connection: close\r\n\r\n" + get.formatted("3") + "\r\n"),
        Arguments.of("one that says so with others", get.formatted("1") + "\r\n"
            + get.formatted("2") + "Connection: x-a, Close\r\n\r\n" + get.formatted("3")
            + "\r\n"),
        Arguments.of("one of HTTP/1.0", get.formatted("1") + "\r\n"
            + get.formatted("2").replace("1.1", "1.0") + "\r\n" + get.formatted("3") + "\r\n"),
        Arguments.of("one with a body", get.formatted("1") + "\r\n" + get.formatted("2")
            + "Connection: close\r\nContent-Length: 3\r\n\r\nabc" + get.formatted("3")
            + "\r\n"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("last")
  void servesTheLastRequestAndNoneBehindIt(String what, String requests) throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    try (var caller = activator.connect()) {
      caller.send(requests);

      assertThat(response(caller)).isEqualTo("200 ok");
      var last = caller.readHead();
      assertThat(last.header("Connection")).isEqualTo("close");
      assertThat(caller.readToEnd()).isEqualTo("ok");
    }
    awaitIdle();
    assertThat(seen).extracting(head -> head.start().split(" ")[1]).containsExactly("/1", "/2");
  }

  @Test
  void servesNothingBehindWhatItRefused() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    try (var caller = activator.connect()) {
      caller.send("GET /1 HTTP/1.1\r\n" + TO_HELLO + "\r\nGET /2 HTTP/1.1\r\n" + TO_HELLO
          + "Content-Length: x\r\n\r\nGET /3 HTTP/1.1\r\n" + TO_HELLO + "\r\n");

      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(response(caller)).isEqualTo("400 400 Bad Request: malformed request\n");
      assertThat(caller.readToEnd()).isEmpty();
    }
    assertThat(seen).hasSize(1);
  }

  static Stream<Arguments> texts() {
    return Stream.of(
        Arguments.of("GET / HTTP/1.1\r\n\r\n",
            "400 400 Bad Request: missing required Host header\n"),
        Arguments.of("GET / HTTP/1.1\r\n" + TO_HELLO + "X-Big: " + "a".repeat(1_100_000)
            + "\r\n\r\n", "431 431 Request Header Fields Too Large\n"),
        Arguments.of("GET /" + "a".repeat(1_100_000) + " HTTP/1.1\r\n" + TO_HELLO + "\r\n",
            "431 431 Request Header Fields Too Large\n"),
        Arguments.of("GET / HTTP/2.5\r\n" + TO_HELLO + "\r\n",
            "505 505 HTTP Version Not Supported\n"),
        Arguments.of("GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            "404 Error getting active endpoint: revision.serving.knative.dev \"\" not found\n"));
  }

  @ParameterizedTest(name = "{1}")
  @MethodSource("texts")
  void saysWhyInPlainText(String request, String expected) throws Exception {
    try (var caller = activator.connect()) {
      caller.send(request);

      var head = caller.readHead();
      assertThat(head.header("Content-Type")).isEqualTo("text/plain; charset=utf-8");
      assertThat(head.header("X-Content-Type-Options")).isEqualTo("nosniff");
      assertThat(head.start().split(" ")[1] + " " + caller.readBody(head)).isEqualTo(expected);
    }
  }

  @Test
  void breaksARequestOffWhoseChunksAreMalformed() throws Exception {
    var pod = pod(caller -> {
      seen.add(caller.readHead());
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Transfer-Encoding: chunked");
      seen();
      caller.send("zz\r\n");

      assertThat(response(caller)).startsWith("400 ");
      caller.awaitEnd();
    }
    assertThat(pod.connections()).isEqualTo(1);
  }

  @Test
  @DisplayName("AH-29 reads a megabyte of header and not more")
  void readsAMegabyteOfHeaderAndNotMore() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    try (var caller = activator.get("/", "X-Big: " + "a".repeat((1 << 20) - 1_000))) {
      assertThat(response(caller)).isEqualTo("200 ");
    }
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET /" + "b".repeat((1 << 20) - 1_000) + " HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ");
    }
    try (var caller = activator.get("/" + "b".repeat(600_000), "X-Big: " + "a".repeat(600_000))) {
      assertThat(caller.readHead().start()).startsWith("HTTP/1.1 431 ");
    }
    try (var caller = activator.get("/", ("X-Some: " + "a".repeat(1_000) + "\r\n").repeat(1_100)
        + "X-Last: z")) {
      assertThat(caller.readHead().start()).startsWith("HTTP/1.1 431 ");
    }
  }

  @Test
  void doesNotWaitForEverForAHead() throws Exception {
    try (var silent = activator.connect(); var slow = activator.connect()) {
      slow.send("GET / HTTP/1.1\r\nHost:");

      assertThat(silent.readToEnd()).isEmpty();
      assertThat(slow.readToEnd()).isEmpty();
    }
  }

  @Test
  void skipsEmptyLinesBeforeARequest() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        caller.send("\r\n\r\n");
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(response(caller)).isEqualTo("200 ");
      }
    }
  }

  @Test
  void keepsOddBytesOfATargetAsTheyAre() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    try (var caller = activator.get("/a%2f%zz//../b\u00e4?x={y}|\"<>")) {
      assertThat(response(caller)).isEqualTo("200 ");
    }
    assertThat(seen().start()).isEqualTo("GET /a%2f%zz//../b\u00e4?x={y}|\"<> HTTP/1.1");
  }
}
