package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ColdStartRulesReader;
import dev.activator.revision.Revision;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.testing.TestValues;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that leave HTTP/1.1: for a WebSocket or for something else, but not for HTTP/2. */
@Execution(ExecutionMode.CONCURRENT) // They wait most of the time.
class UpgradeTest extends WireTest {
  private static final String[] TO_WEB_SOCKET = {"Connection: keep-alive, Upgrade",
      "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Version: 13"};
  private static final String SWITCHED = "HTTP/1.1 101 Switching Protocols\r\n"
      + "Connection: upgrade\r\nUpgrade: WebSocket\r\n"
      + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
  private static final String GOING_AWAY = "\u0088\u0002\u0003\u00e9";

  private static final String OFFERS_H2C = " HTTP/1.1\r\n" + String.join("\r\n", Activator.TO_HELLO)
      + "\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAQAAP__\r\n";
  private static final String TEXT = "\u0081\u0001x";
  /** Two times what kernels may buffer on the way. */
  private static final long LENGTH = 128L << 20;

  private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();

  /** A pod that switches and then says back what it hears, eight bytes at a time. */
  private ScriptedPod echo() throws IOException {
    return pod(caller -> {
      seen.add(caller.readHead());
      caller.send(SWITCHED + "welcome!");
      try {
        while (true) {
          caller.send(caller.read(8));
        }
      } catch (IOException end) {
        ended.add("ended");
      }
    });
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      throw new IOException(stopped);
    }
  }

  private RawPeer upgraded() throws IOException {
    var caller = activator.get("/chat", TO_WEB_SOCKET);
    var head = caller.readHead();
    assertThat(head.start()).isEqualTo("HTTP/1.1 101 Switching Protocols");
    assertThat(head.header("Connection")).isEqualTo("Upgrade");
    assertThat(head.header("Upgrade")).isEqualTo("WebSocket");
    assertThat(head.header("Sec-WebSocket-Accept")).isEqualTo("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    return caller;
  }

  @Test
  @DisplayName("carries bytes both ways after an upgrade, and ends the pod's side with the caller's")
  void carriesBytesBothWays() throws Exception {
    echo();
    try (var caller = upgraded()) {
      assertThat(caller.read(8)).isEqualTo("welcome!");
      for (int i = 0; i < 20; i++) {
        caller.send("\0\u00ff" + i % 10 + "\r\n\r\n!");
        assertThat(caller.read(8)).isEqualTo("\0\u00ff" + i % 10 + "\r\n\r\n!");
      }
      assertThat(activator.throttle.inFlight()).isEqualTo(1);
      assertThat(activator.counted).hasValue(1);
    }
    assertThat(next(ended)).isEqualTo("ended");
    var asked = seen();
    assertThat(asked.header("Connection")).isEqualTo("Upgrade");
    assertThat(asked.header("Upgrade")).isEqualTo("websocket");
    assertThat(asked.header("Sec-WebSocket-Key")).isEqualTo("dGhlIHNhbXBsZSBub25jZQ==");
  }

  @Test
  void aSilentOneIsNotCounted_countsWithItsNextByte_andIsClosedWhenItsPodIsWithdrawn()
      throws Exception {
    activator.revisions.put(
        TestValues.withRules(Revision.of(Activator.HELLO, 0), ColdStartRulesReader.read(Map.of(),
            Map.of(ColdStartRulesReader.IDLE_CONNECTIONS, "ignore-after=1s"))));
    pod(caller -> {
      caller.readHead();
      caller.send(SWITCHED);
      caller.send(caller.read(8));
      caller.awaitEnd();
    });
    try (var caller = upgraded()) {
      eventually(() -> assertThat(activator.counted).hasValue(0));
      assertThat(activator.throttle.inFlight()).isEqualTo(1);

      // a whole frame, as the Close comes between two
      caller.send("\u0081\u0006friend");
      assertThat(caller.read(8)).isEqualTo("\u0081\u0006friend");
      assertThat(activator.arrivals).hasValue(2);

      eventually(() -> assertThat(activator.counted).hasValue(0));
      activator.throttle.withdrawn = true;
      assertThat(caller.readToEnd()).isEqualTo(GOING_AWAY);
    }
    eventually(() -> assertThat(activator.throttle.inFlight()).isZero());
    assertThat(activator.counted).hasValue(0);
    assertThat(activator.arrivals).hasValue(2);
  }

  @Test
  @DisplayName("ends the caller's side when the pod ends its own")
  void endsWithThePod() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send(SWITCHED + "and bye");
    });
    try (var caller = upgraded()) {
      assertThat(caller.readToEnd()).isEqualTo("and bye");
    }
  }

  /** A frame of 64 KiB, its head included. */
  private static byte[] frame() {
    byte[] frame = new byte[64 << 10];
    frame[0] = (byte) 0x82;
    frame[1] = 126;
    frame[2] = (byte) 0xff;
    frame[3] = (byte) 0xfc;
    return frame;
  }

  @Test
  void takesNoMoreThanTheOtherSideDoes() throws Exception {
    BlockingQueue<Flood> floods = new LinkedBlockingQueue<>();
    pod(caller -> {
      caller.readHead();
      caller.send(SWITCHED);
      floods.add(Flood.of(caller, frame(), LENGTH));
      caller.awaitEnd();
    });
    try (var caller = upgraded()) {
      assertThat(next(floods).sentAtRest()).isLessThan(64 << 20);
      assertThat(caller.drain(LENGTH)).isEqualTo(LENGTH);
    }
  }

  @Test
  void takesNoMoreOfWhatTheCallerSaysThanThePodDoes() throws Exception {
    var go = new CountDownLatch(1);
    pod(caller -> {
      caller.readHead();
      caller.send(SWITCHED);
      await(go);
      ended.add("" + caller.drain(LENGTH));
      caller.awaitEnd();
    });
    try (var caller = upgraded()) {
      var flood = Flood.ofAll(caller, LENGTH);
      assertThat(flood.sentAtRest()).isLessThan(64 << 20);
      go.countDown();
      assertThat(next(ended)).isEqualTo("" + LENGTH);
    }
  }

  @Test
  @DisplayName("ends a WebSocket that was idle for the timeout, and no other")
  void countsWhatIsSaidAsActivity() throws Exception {
    activator.timeouts(Duration.ofMinutes(5), Duration.ofSeconds(4), Duration.ofSeconds(4));
    echo();
    try (var caller = upgraded()) {
      assertThat(caller.read(8)).isEqualTo("welcome!");
      for (int i = 0; i < 10; i++) {
        caller.send("I talk. ");
        assertThat(caller.read(8)).isEqualTo("I talk. ");
        // Longer than the timeouts in all, and each time shorter by far.
        assertThat(ended.poll(500, TimeUnit.MILLISECONDS)).isNull();
      }
      caller.awaitEnd();
      assertThat(next(ended)).isEqualTo("ended");
    }
  }

  @Test
  @DisplayName("ends a WebSocket at the overall timeout, whatever is said")
  void endsAtTheOverallTimeout() throws Exception {
    // Long enough for the 101 on a busy machine.
    activator.timeouts(Duration.ofSeconds(5), Duration.ZERO, Duration.ZERO);
    echo();
    try (var caller = upgraded()) {
      Flood.of(caller, "I talk. ".getBytes());
      caller.awaitEnd();
      assertThat(next(ended)).isEqualTo("ended");
    }
  }

  @Test
  void passesARefusalOn() throws Exception {
    pod("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    try (var caller = activator.get("/chat", TO_WEB_SOCKET)) {
      assertThat(response(caller)).isEqualTo("403 no");
      // And the connection goes on.
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("403 no");
    }
  }

  @Test
  void refusesAnotherProtocolThanTheRequested() throws Exception {
    pod("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: smtp\r\n\r\n");
    try (var caller = activator.get("/chat", TO_WEB_SOCKET)) {
      assertThat(response(caller)).isEqualTo("502 switched to a protocol that was not requested\n");
    }
  }

  @Test
  void closesAWebSocketBetweenFrames_whenItDrains() throws Exception {
    var go = new CountDownLatch(1);
    pod(caller -> {
      caller.readHead();
      // The first half of a text of ten bytes.
      caller.send(SWITCHED + "\u0081\n01234");
      await(go);
      caller.send("56789");
      // And on, a letter at a time, until it is told the end.
      Flood.of(caller, TEXT.getBytes(StandardCharsets.ISO_8859_1));
      ended.add(caller.read(6));
    });
    try (var caller = upgraded()) {
      assertThat(caller.read(7)).isEqualTo("\u0081\n01234");

      var drained = activator.server.drain().toCompletableFuture();
      go.countDown();

      // Nothing comes within a frame, and nothing after the end.
      assertThat(caller.read(5)).isEqualTo("56789");
      String frame = caller.read(2);
      while (frame.equals(TEXT.substring(0, 2))) {
        assertThat(caller.read(1)).isEqualTo("x");
        frame = caller.read(2);
      }
      assertThat(frame + caller.read(2)).isEqualTo(GOING_AWAY);
      assertThat(drained).isNotDone();
      // Its answer, masked, reaches the pod.
      caller.send("\u0088\u0080abcd");
      assertThat(next(ended)).isEqualTo("\u0088\u0080abcd");
      assertThat(caller.readToEnd()).isEmpty();
      drained.get(120, TimeUnit.SECONDS);
    }
  }

  @Test
  void ignoresAnOfferOfH2c_andThePodDoesNotSeeIt() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    try (var caller = activator.connect()) {
      caller.send("GET /1" + OFFERS_H2C + "\r\nPOST /2" + OFFERS_H2C
          + "Content-Length: 2\r\n\r\nhiPOST /3" + OFFERS_H2C
          + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\nGET /4"
          + OFFERS_H2C.replace("Upgrade, ", "") + "\r\n");
      for (int i = 1; i <= 4; i++) {
        assertThat(response(caller)).isEqualTo("200 ok");
        var asked = seen();
        assertThat(asked.start()).endsWith(" /" + i + " HTTP/1.1");
        assertThat(asked.header("Upgrade")).isNull();
        assertThat(asked.header("HTTP2-Settings")).isNull();
        assertThat(asked.header("Connection")).isNull();
      }
    }
  }

  @Test
  void tunnelsTheOtherProtocolThatIsOfferedWithH2c() throws Exception {
    echo();
    try (var caller = activator.connect()) {
      caller.send("GET /" + OFFERS_H2C.replace("h2c", "h2c, websocket") + "\r\n");
      assertThat(caller.readHead().start()).startsWith("HTTP/1.1 101 ");
      assertThat(caller.read(8)).isEqualTo("welcome!");
    }
    var asked = seen();
    assertThat(asked.header("Upgrade")).isEqualTo("websocket");
    assertThat(asked.header("HTTP2-Settings")).isNull();
  }

  @Test
  void servesTheJavaClient_whichOffersH2cByDefault_fromAPodThatOnlySpeaksHttp1() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    for (var method : List.of("GET", "POST")) {
      try (var client = HttpClient.newHttpClient()) {
        for (int i = 0; i < 2; i++) {
          var body = method.equals("GET") ? BodyPublishers.noBody() : BodyPublishers.ofString("hi");
          var response = client.send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + activator.port + "/"))
                  .method(method, body).header("Knative-Serving-Namespace", "default")
                  .header("Knative-Serving-Revision", "hello-00001").build(),
              BodyHandlers.ofString());
          assertThat(response.statusCode()).isEqualTo(200);
          assertThat(response.body()).isEqualTo("ok");
          assertThat(response.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
        }
      }
    }
  }

  static Stream<Arguments> earlyBytes() {
    return Stream.of("HELLO-EARLY", "\u0081\u0085abcdHELLO", "\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: y\r\nX: par", "GET /x HTTP/1.1\r\nHost: y\r\n\r\nTAIL",
        "\0\u00ff\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .flatMap(bytes -> IntStream.of(0, 1, 5, bytes.length())
            .mapToObj(split -> Arguments.of(bytes, Math.min(split, bytes.length()))));
  }

  /** Until the bytes are here, which is when the pod is told. */
  private void awaitHeld(int bytes) {
    eventually(() -> assertThat(activator.held.total()).isGreaterThanOrEqualTo(bytes));
  }

  @ParameterizedTest
  @MethodSource("earlyBytes")
  void passesOnWhatCameBeforeThe101(String early, int split) throws Exception {
    var go = new CountDownLatch(1);
    pod(caller -> {
      caller.readHead();
      await(go);
      caller.send(SWITCHED);
      ended.add(caller.read(early.length() + 4));
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      // In one packet with the head, in the next one, or in both.
      caller.send("GET /chat HTTP/1.1\r\n" + String.join("\r\n", Activator.TO_HELLO) + "\r\n"
          + String.join("\r\n", TO_WEB_SOCKET) + "\r\n\r\n" + early.substring(0, split));
      caller.send(early.substring(split));
      awaitHeld(early.length());
      go.countDown();
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 101 Switching Protocols");
      caller.send("LATE");
      assertThat(next(ended)).isEqualTo(early + "LATE");
    }
  }

  @Test
  void passesTheRestOfTheRequestOn_whenThe101ComesWithinABodyWithALength() throws Exception {
    pod(caller -> {
      caller.readHead();
      String begun = caller.read(5);
      caller.send(SWITCHED);
      ended.add(begun + caller.read(9));
      caller.awaitEnd();
    });
    try (var caller = withinBody("Content-Length: 10", "12345")) {
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 101 Switching Protocols");
      caller.send("67890LATE");
      assertThat(next(ended)).isEqualTo("1234567890LATE");
    }
  }

  /** The pod has got other chunks than the caller sends, so it could not read the rest of them. */
  @Test
  void refusesThe101_whenItComesWithinAChunkedBody() throws Exception {
    pod(caller -> {
      caller.readHead();
      ended.add(caller.read(10));
      caller.send(SWITCHED);
      caller.awaitEnd();
    });
    try (var caller = withinBody("Transfer-Encoding: chunked", "a\r\n12345")) {
      assertThat(next(ended)).isEqualTo("5\r\n12345\r\n");
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 502 Bad Gateway");
    }
  }

  private RawPeer withinBody(String framing, String begin) throws IOException {
    var caller = activator.connect();
    caller.send("POST /chat HTTP/1.1\r\n" + String.join("\r\n", Activator.TO_HELLO) + "\r\n"
        + String.join("\r\n", TO_WEB_SOCKET) + "\r\n" + framing + "\r\n\r\n" + begin);
    return caller;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 20, 60, 1_000})
  void parsesWhatCameBeforeARefusal(int split) throws Exception {
    var go = new CountDownLatch(1);
    pod(caller -> {
      seen.add(caller.readHead());
      await(go);
      caller.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
      while (true) {
        seen.add(caller.readHead());
        caller.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      }
    });
    try (var caller = activator.get("/chat", TO_WEB_SOCKET)) {
      seen();
      String more = ("GET /next HTTP/1.1\r\n" + String.join("\r\n", Activator.TO_HELLO)
          + "\r\n\r\n").repeat(3);
      int first = Math.min(split, more.length());
      caller.send(more.substring(0, first));
      awaitHeld(first);
      go.countDown();
      assertThat(response(caller)).isEqualTo("403 no");
      caller.send(more.substring(first));
      for (int i = 0; i < 3; i++) {
        assertThat(response(caller)).isEqualTo("200 ok");
        assertThat(seen().start()).isEqualTo("GET /next HTTP/1.1");
      }
    }
  }

  @Test
  void readsNoMore_whenMuchComesBeforeThe101() throws Exception {
    var go = new CountDownLatch(1);
    pod(caller -> {
      caller.readHead();
      await(go);
      caller.send(SWITCHED);
      ended.add("" + caller.drain(LENGTH));
      caller.awaitEnd();
    });
    try (var caller = activator.get("/chat", TO_WEB_SOCKET)) {
      var flood = Flood.ofAll(caller, LENGTH);
      assertThat(flood.sentAtRest()).isLessThan(64 << 20);
      assertThat(activator.held.total()).isLessThan(1 << 20);
      go.countDown();
      assertThat(next(ended)).isEqualTo("" + LENGTH);
    }
  }

  @Test
  void answersEach_whenManyPipelinedRequestsWantAnotherProtocolAndAreRefusedHere()
      throws Exception {
    int count = 5_000;
    String probe = "GET / HTTP/1.1\r\nHost: hello.example\r\nK-Network-Probe: activator\r\n"
        + String.join("\r\n", TO_WEB_SOCKET) + "\r\n\r\n";
    try (var caller = activator.connect()) {
      Thread.ofVirtual().start(() -> {
        try {
          caller.send(probe.repeat(count));
        } catch (IOException e) {
          ended.add(e.toString());
        }
      });
      for (int i = 0; i < count; i++) {
        assertThat(response(caller)).isEqualTo("200 activator");
      }
    }
    assertThat(ended).isEmpty();
  }

  @Test
  void answersPipelinedRequestsInOrder_whenOneOfThemWantsAnotherProtocol() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    String head = " HTTP/1.1\r\n" + String.join("\r\n", Activator.TO_HELLO) + "\r\n";
    try (var caller = activator.connect()) {
      caller.send("GET /1" + head + "\r\nPOST /2" + head + String.join("\r\n", TO_WEB_SOCKET)
          + "\r\nContent-Length: 4\r\n\r\nbodyGET /3" + head + "\r\nGET /4" + head + "\r\n");
      for (int i = 1; i <= 4; i++) {
        assertThat(response(caller)).isEqualTo("200 ok");
        assertThat(seen().start()).contains(" /" + i + " ");
      }
    }
  }
}
