package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.LogLines;
import dev.activator.upstream.LoopConnectionPools;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods that answer in HTTP/1 with too much: nothing of it is kept, and nobody else pays for it. */
class PodStrictnessTest extends WireTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";
  private static final String CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n";

  static Stream<Arguments> heads() {
    return Stream.of(
        Arguments.of("more than 10,000 fields", OK + "A:\r\n".repeat(10_000) + "\r\nok"),
        Arguments.of("more than 10,000 fields before the answer",
            "HTTP/1.1 103 Early Hints\r\n" + "A:\r\n".repeat(10_001) + "\r\n" + OK + "\r\nok"),
        Arguments.of("options without end",
            OK + "Connection: " + "x,".repeat(1 << 20) + "x\r\n\r\nok"),
        Arguments.of("white space in a name", OK + "A B: 1\r\n\r\nok"),
        // Before it, a line with a colon just where the other ends.
        Arguments.of("white space and no colon", OK + "Abcde: f\r\nAbc  \r\n\r\nok"),
        Arguments.of("white space in a length's name",
            "HTTP/1.1 200 OK\r\nContent-Length 7: 2\r\n\r\nok"),
        Arguments.of("unequal lengths", OK + "Content-Length: 3\r\n\r\nok"),
        Arguments.of("unequal lengths in HTTP/1.0",
            OK.replace("1.1", "1.0") + "Content-Length: 3\r\n\r\nok"),
        coding("Transfer-Encoding: gzip, chunked"), coding("Transfer-Encoding: identity"),
        coding("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip"),
        coding("Transfer-Encoding: chunked\r\nContent-Length: x"),
        Arguments.of("a control character at first", "\1" + OK + "\r\nok"),
        status("-99"), status("+20"), status("099"), status("99"), status("1000"), status("20x"),
        Arguments.of("more than 10 MiB", OK + "A: " + "a".repeat(10 << 20) + "\r\n\r\nok"));
  }

  private static Arguments coding(String fields) {
    return Arguments.of(fields, "HTTP/1.1 200 OK\r\n" + fields + "\r\n\r\n2\r\nok\r\n0\r\n\r\n");
  }

  private static Arguments status(String code) {
    return Arguments.of("a status of " + code, OK.replace("200", code) + "\r\nok");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("heads")
  void answers502AndServesTheNext(String what, String answer) throws Exception {
    var pod = pod(peer -> {
      seen.add(peer.readHead());
      peer.send(seen.size() == 1 ? answer : OK + "\r\nok");
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("502 malformed response\n");

      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    // Nothing was asked twice.
    eventually(() -> assertThat(pod.connections()).isEqualTo(2));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("heads")
  void triesNoPodAgainOnAConnectionThatHasServed(String what, String answer) throws Exception {
    // given a pod that misbehaves with its second answer
    var pod = pod(peer -> {
      while (true) {
        seen.add(peer.readHead());
        peer.send(seen.size() == 2 ? answer : OK + "\r\nok");
      }
    });
    try (var caller = activator.connect()) {
      for (String expected : List.of("200 ok", "502 malformed response\n", "200 ok")) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(response(caller)).isEqualTo(expected);
      }
    }
    assertThat(seen).hasSize(3);
    eventually(() -> assertThat(pod.connections()).isEqualTo(2));
  }

  /** As of a program that is written for h2c, at a port without that name. */
  @ParameterizedTest(name = "{0}")
  @CsvSource({"Transfer-Encoding: identity, unknown transfer coding",
      "Abc d: 1, white space in a field's name"})
  void logsWhatIsMalformed(String field, String why) throws Exception {
    var pod = pod(OK + field + "\r\n\r\nok");
    try (var log = LogLines.of(LoopConnectionPools.class); var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("502 malformed response\n");

      assertThat(log.lines()).anyMatch(line -> line.startsWith(
          "WARN A response of " + pod.destination() + " is malformed: " + why));
    }
  }

  @Test
  void logsWhatIsMalformedInABody() throws Exception {
    var pod = pod(CHUNKED + "\r\n2  \r\nok\r\n0\r\n\r\n");
    try (var log = LogLines.of(LoopConnectionPools.class); var caller = activator.get("/")) {
      caller.readHead();
      assertThat(caller.readToEnd()).isEmpty();

      assertThat(log.lines()).anyMatch(line -> line.startsWith(
          "WARN A response of " + pod.destination() + " is malformed: Invalid chunk size"));
    }
  }

  @Test
  void saysThatAPodAnswersInHttp2() throws Exception {
    String settings = "\0\0\6\4\0\0\0\0\0\0\3\0\0\0\144";
    String goAway = "\0\0\10\7\0\0\0\0\0\0\0\0\0\0\0\0\1";
    var pod = pod(peer -> {
      peer.readHead();
      peer.send(settings + goAway);
    });
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo(
          "502 the pod answered in HTTP/2, but its port is configured for HTTP/1.1\n");
    }
    assertThat(pod.connections()).isEqualTo(1);
  }

  @Test
  void answers502_whenAResponseHasTooManyInterimOnes() throws Exception {
    pod("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(200) + OK + "\r\nok");
    try (var caller = activator.get("/")) {
      int interims = 0;
      String response = response(caller);
      while (response.equals("103 ")) {
        interims++;
        response = response(caller);
      }
      assertThat(response).isEqualTo("502 too many interim responses\n");
      // One more for each second that passes while they come.
      assertThat(interims).isBetween(100, 199);
    }
  }

  @Test
  void breaksOffAResponseWithMoreThanTenThousandTrailers() throws Exception {
    pod(CHUNKED + "\r\n2\r\nok\r\n0\r\n" + "A:\r\n".repeat(10_000) + "\r\n");
    try (var caller = activator.get("/")) {
      caller.readHead();
      assertThat(caller.readToEnd()).isEqualTo("2\r\nok\r\n");
    }
  }

  /** RFC 9110, section 7.6.1. */
  @Test
  void passesNoTrailerOnThatIsForOneConnection() throws Exception {
    pod(CHUNKED + "Connection: x-a\r\n\r\n2\r\nok\r\n0\r\nConnection: close, X-B\r\nX-A: a\r\n"
        + "X-B: b\r\nKeep-Alive: timeout=5\r\nX-T: t\r\n\r\n");
    try (var caller = activator.get("/")) {
      caller.readHead();
      assertThat(caller.readChunk()).isEqualTo("ok");
      assertThat(caller.readChunk()).isEmpty();
      assertThat(caller.readHeadLines()).containsExactly("X-T: t");
    }
  }

  /** RFC 9110, section 15.3.6: it has no content, and this pod does not say so. */
  @ParameterizedTest
  @ValueSource(strings = {"", "a body"})
  void waitsForNoEnd_ofAResetContentWithoutALength(String body) throws Exception {
    var served = new CompletableFuture<Void>();
    var pod = pod(peer -> {
      peer.readHead();
      peer.send("HTTP/1.1 205 Reset Content\r\n\r\n" + body);
      served.join();
    });
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        var head = caller.readHead();
        assertThat(head.start()).startsWith("HTTP/1.1 205 ");
        assertThat(head.header("Content-Length")).isEqualTo("0");
      }
    } finally {
      served.complete(null);
    }
    assertThat(pod.connections()).isEqualTo(2);
  }

  static Stream<String> large() {
    var line = "A: " + "a".repeat(200_000) + "\r\n";
    return Stream.of(OK + line + "\r\nok", OK.replace("OK", "O".repeat(200_000)) + "\r\nok",
        "HTTP/1.1 103 Early Hints\r\n" + line + "\r\n" + OK + "\r\nok",
        CHUNKED + "\r\n2\r\nok\r\n0\r\n" + line + "\r\n",
        CHUNKED + "\r\n2;" + "a".repeat(200_000) + "\r\nok\r\n0\r\n\r\n",
        CHUNKED + "\r\n2\r\nok\r\n0;" + "a".repeat(200_000) + "\r\n\r\n");
  }

  /** The decoder's buffer keeps the size of the longest line: idle connections must not hold 10 MiB each. */
  @ParameterizedTest(name = "{index}")
  @MethodSource("large")
  void keepsNoConnectionThatHadALongLine(String answer) throws Exception {
    var pod = pod(peer -> {
      while (true) {
        peer.readHead();
        peer.send(answer);
      }
    });
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        var head = caller.readHead();
        assertThat(caller.readBody(head.start().contains("103") ? caller.readHead() : head))
            .isEqualTo("ok");
      }
    }
    assertThat(pod.connections()).isEqualTo(2);
  }

  /** What follows a response without a body, as from a pod that sends a body after HEAD. */
  @ParameterizedTest
  @ValueSource(strings = {"body", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\nA: ",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"})
  void takesNothingThatFollowsAResponseForTheNext(String excess) throws Exception {
    var pod = pod(peer -> {
      while (true) {
        boolean head = peer.readHead().start().startsWith("HEAD ");
        peer.send(OK + "\r\n" + (head ? excess : "ok"));
      }
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "HEAD / HTTP/1.1");
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 200 OK");

      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(2));
  }

  @Test
  void takesNothingThatFollowsAResponseForThatOfAPipelinedRequest() throws Exception {
    var pod = pod(OK + "\r\nok" + OK + "\r\nno");
    try (var caller = activator.connect()) {
      var request = "GET / HTTP/1.1\r\n" + String.join("\r\n", Activator.TO_HELLO) + "\r\n\r\n";
      caller.send(request + request);
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(2));
  }

  @Test
  void acceptsWhiteSpaceBeforeTheColonOfAField() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok");
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  /** As Go and HAProxy do. */
  @ParameterizedTest
  @ValueSource(strings = {"Content-Length: 2\r\nContent-Length: 2", "Content-Length: 2, 2"})
  void countsEqualLengthsAsOne(String lengths) throws Exception {
    var pod = pod("HTTP/1.1 200 OK\r\n" + lengths + "\r\n\r\nok");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        var head = caller.readHead();
        assertThat(head.header("Content-Length")).isEqualTo("2");
        assertThat(caller.readBody(head)).isEqualTo("ok");
      }
    }
    assertThat(pod.connections()).isOne();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Content-Length: 2\r\nContent-Length: 3", "Content-Length: 2, 3",
      "Content-Length: 2\r\nContent-Length:", "Content-Length: +2"})
  void answers502_whenTheLengthIsUncertain(String lengths) throws Exception {
    pod("HTTP/1.1 200 OK\r\n" + lengths + "\r\n\r\nok");
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("502 malformed response\n");
    }
  }

  /** As of a program that sets the length itself, on a server that sends chunks. */
  @ParameterizedTest
  @ValueSource(strings = {"2", "7", "2, 2"})
  void readsChunks_whenThereIsALengthToo_andUsesTheConnectionNoMore(String length)
      throws Exception {
    var pod = pod(CHUNKED + "Content-Length: " + length + "\r\n\r\n2\r\nok\r\n0\r\n\r\n");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        var head = caller.readHead();
        assertThat(head.header("Content-Length")).isNull();
        assertThat(caller.readChunk()).isEqualTo("ok");
        assertThat(caller.readChunk()).isEmpty();
      }
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(2));
  }

  /** RFC 9110, section 7.6.1, and RFC 9112, section 6.3. */
  @Test
  void passesNothingOnThatIsForOneConnection_whenThereAreALengthAndChunks() throws Exception {
    pod(CHUNKED + "Content-Length: 2\r\nConnection: X-A, X-B\r\nX-A: a\r\n\r\n"
        + "2\r\nok\r\n0\r\nX-B: b\r\nX-T: t\r\n\r\n");
    try (var caller = activator.get("/")) {
      assertThat(caller.readHead().header("X-A")).isNull();
      assertThat(caller.readChunk()).isEqualTo("ok");
      assertThat(caller.readChunk()).isEmpty();
      assertThat(caller.readHeadLines()).containsExactly("X-T: t");
    }
  }

  @Test
  void passesNoLengthOn_besideChunksThatAResponseToHeadWouldHave() throws Exception {
    var pod = pod(CHUNKED + "Content-Length: 7\r\n\r\n");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "HEAD / HTTP/1.1");
        assertThat(caller.readHead().header("Content-Length")).isNull();
      }
    }
    assertThat(pod.connections()).isEqualTo(2);
  }

  @Test
  void answers502_whenAControlCharacterFollowsAnInterimResponse() throws Exception {
    pod("HTTP/1.1 103 Early Hints\r\n\r\n\1" + OK + "\r\nok");
    try (var caller = activator.get("/")) {
      assertThat(caller.readHead().start()).startsWith("HTTP/1.1 103 ");
      assertThat(response(caller)).isEqualTo("502 malformed response\n");
    }
  }

  /** As of a script that prints its own head. */
  @Test
  void acceptsHeadsWhoseLinesEndInLineFeeds() throws Exception {
    var pod = pod(
        "HTTP/1.1 103 Early Hints\nA: 1\n\nHTTP/1.1 200 OK\nContent-Length: 2\nA: 1\n\nok");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(caller.readHead().header("A")).isEqualTo("1");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
    }
    assertThat(pod.connections()).isOne();
  }

  @Test
  void countsTheFieldsOfEachResponseSeparately() throws Exception {
    // given a pod whose every response has as many fields as it may
    var pod = pod("HTTP/1.1 103 Early Hints\r\n" + "A:\r\n".repeat(10_000) + "\r\n" + OK
        + "A:\r\n".repeat(9_999) + "\r\nok");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(caller.readHead().start()).startsWith("HTTP/1.1 103 ");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
    }
    eventually(() -> assertThat(pod.connections()).isOne());
  }

  @ParameterizedTest
  @ValueSource(strings = {"chunked", "gzip", "chunked\r\nTransfer-Encoding: gzip"})
  void ignoresATransferCodingInHttp10AndUsesTheConnectionNoMore(String coding) throws Exception {
    var pod = pod("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: " + coding
        + "\r\nContent-Length: 2\r\n\r\nok");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(2));
  }

  @Test
  void aBodyInHttp10WithoutLengthEndsWithTheConnectionWhateverItsTransferCoding()
      throws Exception {
    pod(peer -> {
      peer.readHead();
      peer.send("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nmore");
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 0\r\n\r\nmore");
    }
  }
}
