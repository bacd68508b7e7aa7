package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads, and what they say about the body. */
class StrictnessTest extends StrictTest {
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
        Arguments.of("two lengths that are the same", 400,
            POST + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde"),
        Arguments.of("a list of the same length", 400, POST + "Content-Length: 5, 5\r\n\r\nabcde"),
        Arguments.of("a length with a blank in it", 400, POST + "Content-Length: 5 5\r\n\r\nabcde"),
        Arguments.of("a length of letters", 400, POST + "Content-Length: five\r\n\r\nabcde"),
        Arguments.of("a length that is a fraction", 400, POST + "Content-Length: 5.0\r\n\r\nabcde"),
        Arguments.of("a TRACE with a length", 400,
            "TRACE / HTTP/1.1\r\n" + TO_HELLO + "Content-Length: 5\r\n\r\nabcde"),
        Arguments.of("a TRACE with chunks", 400, "TRACE / HTTP/1.1\r\n" + TO_HELLO
            + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Arguments.of("options without end", 400,
            POST + "Connection: " + "x,".repeat(500_000) + "x\r\n\r\n"),
        Arguments.of("options without end, for another protocol", 400,
            POST + "Upgrade: x\r\nConnection: " + "x,".repeat(100) + "upgrade\r\n\r\n"),
        Arguments.of("many options in many fields", 400,
            POST + "Connection: x\r\n".repeat(50) + "Connection: x, y\r\n".repeat(26) + "\r\n"),
        Arguments.of("more than 100 protocols", 400,
            POST + "Upgrade: " + ",".repeat(100) + "\r\nConnection: upgrade\r\n\r\n"),
        Arguments.of("more than 100 codings", 400, POST + "TE: " + "x,".repeat(100) + "\r\n\r\n"),
        Arguments.of("another expectation", 417, POST + "Expect: more\r\n\r\n"));
  }

  static Stream<Arguments> codings() {
    return Stream.of(
        Arguments.of("chunks and no coding", 400, "Transfer-Encoding: chunked, identity"),
        Arguments.of("no coding and chunks", 501, "Transfer-Encoding: identity, chunked"),
        Arguments.of("what begins with another letter", 400, "Transfer-Encoding: xchunked"),
        Arguments.of("what ends with another letter", 400, "Transfer-Encoding: chunkedx"),
        Arguments.of("a coding with a blank in it", 400, "Transfer-Encoding: chunked x"),
        Arguments.of("a quoted coding", 400, "Transfer-Encoding: \"chunked\""),
        Arguments.of("a coding with a parameter", 400, "Transfer-Encoding: chunked;a=b"),
        Arguments.of("an empty coding", 400, "Transfer-Encoding:"),
        Arguments.of("a coding and nothing", 501, "Transfer-Encoding: chunked,"),
        Arguments.of("nothing and a coding", 501, "Transfer-Encoding: , chunked"),
        Arguments.of("the same line twice", 400,
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        Arguments.of("a line and another", 400,
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
        Arguments.of("another line first", 501,
            "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked"),
        Arguments.of("lines in other letters", 400,
            "Transfer-Encoding: chunked\r\ntransfer-encoding: x"),
        Arguments.of("a vertical tab before it", 400, "Transfer-Encoding:\u000bchunked"),
        Arguments.of("a vertical tab behind it", 400, "Transfer-Encoding: chunked\u000b"),
        Arguments.of("a form feed behind it", 400, "Transfer-Encoding: chunked\f"),
        Arguments.of("a no-break space behind it", 400, "Transfer-Encoding: chunked\u00a0"),
        Arguments.of("a NUL behind it", 400, "Transfer-Encoding: chunked\0"),
        Arguments.of("a blank before the colon", 400, "Transfer-Encoding : chunked"),
        Arguments.of("a tab before the colon", 400, "Transfer-Encoding\t: chunked"),
        Arguments.of("a blank before the name", 400, " Transfer-Encoding: chunked"),
        Arguments.of("a folded value", 400, "X: y\r\n\tTransfer-Encoding: chunked"),
        Arguments.of("a line feed before it", 400, "X: y\nTransfer-Encoding: chunked"),
        Arguments.of("a length before it", 400, "Content-Length: 5\r\nTransfer-Encoding: chunked"),
        Arguments.of("a length of nothing", 400,
            "Content-Length: 0\r\nTransfer-Encoding: chunked"));
  }

  static Stream<Arguments> hosts() {
    return Stream.of(Arguments.of("the same twice", "Host: a\r\nHost: a"),
        Arguments.of("twice in other letters", "Host: a\r\nhOST: b"),
        Arguments.of("a user", "Host: u@a"), Arguments.of("a user and a password", "Host: u:p@a"),
        Arguments.of("a path", "Host: a/b"), Arguments.of("a query", "Host: a?b"),
        Arguments.of("a fragment", "Host: a#b"), Arguments.of("a backslash", "Host: a\\b"),
        Arguments.of("a blank", "Host: a b"), Arguments.of("a tab", "Host: a\tb"),
        Arguments.of("a quote", "Host: a\"b"), Arguments.of("a bracket", "Host: <a>"),
        Arguments.of("a scheme", "Host: http://a"),
        Arguments.of("more than ASCII", "Host: \u00e4"), Arguments.of("a DEL", "Host: a\u007f"),
        Arguments.of("a blank before the colon", "Host : a"), Arguments.of("none", "X: y"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refused")
  void refusesWhatIsAmbiguousAndEndsTheConnection(String what, int status, String request)
      throws Exception {
    refused(status, request);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refused")
  void refusesItAsWellWhenItComesByteByByte(String what, int status, String request)
      throws Exception {
    refusedByteByByte(status, request);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("codings")
  void refusesOtherCodings(String what, int status, String lines) throws Exception {
    String body = "\r\n\r\n5\r\nabcde\r\n0\r\n\r\n";
    refused(status, POST + lines + body);
    refusedByteByByte(status, POST + lines + body);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("hosts")
  void refusesOtherHosts(String what, String lines) throws Exception {
    refused(400, "GET / HTTP/1.1\r\nKnative-Serving-Namespace: default\r\n"
        + "Knative-Serving-Revision: hello-00001\r\n" + lines + "\r\n\r\n");
  }

  @ParameterizedTest(name = "''{0}''")
  @ValueSource(strings = {"chunked", "Chunked", "CHUNKED", " chunked\t", "\tchunked "})
  void readsChunksHoweverTheyAreWritten(String coding) throws Exception {
    okPod();
    try (var caller = activator.connect()) {
      caller.send(POST + "Transfer-Encoding:" + coding + "\r\n\r\n5\r\nabcde\r\n0\r\n\r\n");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    assertThat(seen().header("Transfer-Encoding")).isEqualTo("chunked");
  }

  @Test
  void doesNotExpectABody_ofAnOldWebSocketRequest() throws Exception {
    assertThat(refused(400, "GET / HTTP/1.1\r\n" + TO_HELLO
        + "Sec-WebSocket-Key1: 1\r\nSec-WebSocket-Key2: 2\r\n\r\nGET /x HT"))
        .isEqualTo("400 Bad Request: a body without a length\n");
  }

  @Test
  void refusesAFloodOfFields() throws Exception {
    assertThat(refused(431, POST + "A:\r\n".repeat(1_001) + "\r\n"))
        .isEqualTo("431 Request Header Fields Too Large\n");
  }

  @Test
  void saysThatThereAreTooManyOptions() throws Exception {
    assertThat(refused(400, POST + "Connection: " + "x,".repeat(100) + "\r\n\r\n"))
        .isEqualTo("400 Bad Request: more than 100 options of the connection\n");
  }

  @Test
  void passesOnAllFieldsOfAHeadThatHasMany() throws Exception {
    okPod();
    try (var caller = activator.connect()) {
      caller.send(POST + "A: b\r\n".repeat(900) + "Connection: "
          + "x,".repeat(99) + "B\r\nB: c\r\nContent-Length: 0\r\n\r\n");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    var head = seen();
    assertThat(head.all("A")).hasSize(900);
    assertThat(head.all("B")).isEmpty();
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
    eventually(() -> assertThat(pod.connections()).isEqualTo(1));
  }

  @Test
  @DisplayName("reads a megabyte of header and not more")
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
    startWith(Activator.Settings.DEFAULT.headTimeout(Duration.ofSeconds(5)));
    okPod();
    try (var silent = activator.connect();
        var slow = activator.connect();
        var pipelining = activator.connect()) {
      slow.send("GET / HTTP/1.1\r\nHost:");
      pipelining.send("GET / HTTP/1.1\r\n" + TO_HELLO + "\r\nGET /");

      assertThat(response(pipelining)).isEqualTo("200 ok");
      assertThat(silent.readToEnd()).isEmpty();
      assertThat(slow.readToEnd()).isEmpty();
      assertThat(pipelining.readToEnd()).isEmpty();
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
