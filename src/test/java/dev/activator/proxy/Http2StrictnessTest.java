package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad requests in HTTP/2, and too much of good ones: what becomes of them, and what reaches the pod. */
@Execution(ExecutionMode.CONCURRENT) // They wait most of the time.
class Http2StrictnessTest extends WireTest {
  private static final int PROTOCOL_ERROR = 1;
  private static final int FLOW_CONTROL_ERROR = 3;
  private static final int FRAME_SIZE_ERROR = 6;
  private static final int COMPRESSION_ERROR = 9;
  private static final int ENHANCE_YOUR_CALM = 11;

  private ScriptedPod pod() throws IOException {
    return pod(caller -> {
      var pod = RawHttp2.pod(caller);
      while (true) {
        var frame = pod.read();
        if (frame.ends()) {
          pod.headers(frame.stream(), true, ":status", "200");
        }
      }
    });
  }

  /** A good head with these fields in place of its own or behind them; an empty value removes. */
  private static String[] head(String... changes) {
    var fields = new ArrayList<>(List.of(":method", "GET", ":scheme", "http", ":path", "/",
        ":authority", "hello.example", "knative-serving-namespace", "default",
        "knative-serving-revision", "hello-00001"));
    for (int i = 0; i < changes.length; i += 2) {
      int at = changes[i].startsWith(":") ? fields.indexOf(changes[i]) : -1;
      if (at < 0) {
        fields.addAll(List.of(changes[i], changes[i + 1]));
      } else if (changes[i + 1].isEmpty()) {
        fields.subList(at, at + 2).clear();
      } else {
        fields.set(at + 1, changes[i + 1]);
      }
    }
    return fields.toArray(String[]::new);
  }

  static Stream<Arguments> resetting() {
    return Stream.of(Arguments.of("no method", head(":method", "")),
        Arguments.of("no scheme", head(":scheme", "")), Arguments.of("no path", head(":path", "")),
        Arguments.of("a path that is a URL", head(":path", "http://other/")),
        Arguments.of("a path without a slash", head(":path", "a")),
        Arguments.of("an asterisk with more", head(":path", "*a")),
        Arguments.of("a space in a path", head(":path", "/a b")),
        Arguments.of("a pseudo-header of responses", head("x", "y", ":status", "200")),
        Arguments.of("an unknown pseudo-header", head(":what", "x")),
        Arguments.of("an extension that was not offered",
            new String[]{":method", "CONNECT", ":protocol", "websocket", ":scheme", "http", ":path",
                "/", ":authority", "hello.example"}),
        Arguments.of("a pseudo-header behind fields", head("x", "y", ":protocol", "z")),
        Arguments.of("a second path", join(head(), ":path", "/b")),
        Arguments.of("a name in capitals", head("X-A", "b")),
        Arguments.of("a name with a blank", head("x a", "b")),
        Arguments.of("a name with a colon", head("x:a", "b")),
        Arguments.of("an empty name", head("", "b")),
        Arguments.of("a line end in a value", head("x-a", "b\r\nx-c: d")),
        Arguments.of("a line feed in a value", head("x-a", "b\nc")),
        Arguments.of("a carriage return in a value", head("x-a", "b\rc")),
        Arguments.of("a NUL in a value", head("x-a", "b\0c")),
        Arguments.of("a blank before a value", head("x-a", " b")),
        Arguments.of("a line end in a path", head(":path", "/ HTTP/1.1\r\nx: y")),
        Arguments.of("a line end in a method", head(":method", "GET / HTTP/1.1\r\n")),
        Arguments.of("a coding", head("transfer-encoding", "chunked")),
        Arguments.of("a connection", head("connection", "close")),
        Arguments.of("a kept connection", head("keep-alive", "1")),
        Arguments.of("an upgrade", head("upgrade", "h2c")),
        Arguments.of("a proxy's connection", head("proxy-connection", "keep-alive")),
        Arguments.of("a te other than trailers", head("te", "gzip")),
        Arguments.of("another host", head("host", "other.example")),
        Arguments.of("another port", head("host", "hello.example:8080")),
        Arguments.of("the default port of another scheme", head("host", "hello.example:443")),
        Arguments.of("two lengths", head("content-length", "1", "content-length", "2")),
        Arguments.of("a length with a sign", head("content-length", "+1")),
        Arguments.of("a length that is not kept", head("content-length", "5")));
  }

  private static String[] join(String[] head, String... more) {
    return Stream.of(head, more).flatMap(Stream::of).toArray(String[]::new);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("resetting")
  void resetsTheStreamOfAMalformedRequest(String what, String[] head) throws Exception {
    var pod = pod();
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, head);

      var reset = caller.read();
      assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
      assertThat(reset.number()).isEqualTo(PROTOCOL_ERROR);

      // And the connection goes on.
      caller.headers(3, true, head("k-network-probe", "activator"));
      assertThat(caller.response(3)).isEqualTo("200 activator");
    }
    assertThat(pod.connections()).isZero();
  }

  static Stream<Arguments> sameHosts() {
    return Stream.of(Arguments.of("http", "hello.example:80", "hello.example"),
        Arguments.of("http", "hello.example", "hello.example:80"),
        Arguments.of("http", "hello.example:", "hello.example"),
        Arguments.of("https", "hello.example:443", "HELLO.example"),
        Arguments.of("https", "[::1]", "[::1]:443"));
  }

  @ParameterizedTest
  @MethodSource("sameHosts")
  void servesARequest_whenHostAndAuthorityDifferByTheDefaultPort(String scheme, String authority,
      String host) throws Exception {
    pod();
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, head(":scheme", scheme, ":authority", authority, "host", host));
      assertThat(caller.response(1)).isEqualTo("200 ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"content-length", "host", "knative-serving-revision",
      "x-forwarded-for"})
  void resetsTheStreamOfATrailerThatBelongsInTheHead(String name) throws Exception {
    pod();
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, false, head());
      caller.headers(1, true, name, "5");

      var reset = caller.read();
      assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
      assertThat(reset.number()).isEqualTo(PROTOCOL_ERROR);
    }
  }

  static Stream<Arguments> refused() {
    return Stream.of(Arguments.of("a malformed host", "400", head(":authority", "a b")),
        Arguments.of("a host with a user", "400", head(":authority", "user@hello.example")),
        Arguments.of("another expectation", "417", head("expect", "more")),
        Arguments.of("an asterisk where it means nothing", "400", head(":path", "*")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refused")
  void rejectsARequest_whenItsHeadIsWellFormedButInvalid(String what, String status, String[] head)
      throws Exception {
    var pod = pod();
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, head);
      assertThat(caller.response(1)).startsWith(status + " ");
    }
    assertThat(pod.connections()).isZero();
  }

  @Test
  void refusesATunnel() throws Exception {
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, false, ":method", "CONNECT", ":authority", "hello.example:80");
      assertThat(caller.response(1)).startsWith("400 ");
    }
  }

  static Stream<Arguments> floods() {
    byte[] settings = RawHttp2.bytes(RawHttp2.SETTINGS, 0, 0, new byte[0]);
    return Stream.of(
        Arguments.of("pings", RawHttp2.bytes(RawHttp2.PING, 0, 0, new byte[8])),
        Arguments.of("settings", settings));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("floods")
  void closesTheConnection_whenACallerFloodsAndReadsNoAnswers(String what, byte[] frame)
      throws Exception {
    try (var peer = RawPeer.connectWithSmallBuffer(activator.port)) {
      RawHttp2.caller(peer);
      var flood = new ByteArrayOutputStream();
      for (int i = 0; i < 1_000; i++) {
        flood.writeBytes(frame);
      }
      // The answers to all that would fill any memory.
      Flood.of(peer, flood.toByteArray()).awaitCutOff();
    }
  }

  @Test
  void endsAConnectionThatBeginsRequestsOnlyToResetThem() throws Exception {
    try (var caller = RawHttp2.caller(activator.connect())) {
      var flood = new ByteArrayOutputStream();
      for (int i = 0; i < 4_000; i++) {
        int stream = 2 * i + 1;
        flood.writeBytes(RawHttp2.bytes(RawHttp2.HEADERS,
            RawHttp2.END_HEADERS | RawHttp2.END_STREAM, stream, RawHttp2.encode(head())));
        flood.writeBytes(RawHttp2.bytes(RawHttp2.RST_STREAM, 0, stream, new byte[]{0, 0, 0, 8}));
      }
      Flood.of(caller.peer(), flood.toByteArray(), 1);
      assertThat(caller.awaitEnd()).isIn(ENHANCE_YOUR_CALM, -1);
    }
    // A thousand at once, and more only as time passes.
    assertThat(activator.arrivals.get()).isLessThan(4_000);
  }

  @Test
  void endsAConnectionThatGoesOnWithAHeadForever() throws Exception {
    try (var caller = RawHttp2.caller(activator.connect())) {
      byte[] part = RawHttp2.encode("x", "y");
      caller.frame(RawHttp2.HEADERS, RawHttp2.END_STREAM, 1, RawHttp2.encode(head()));
      Flood.of(caller.peer(), RawHttp2.bytes(RawHttp2.CONTINUATION, 0, 1, part), 100_000);
      assertThat(caller.awaitEnd()).isIn(ENHANCE_YOUR_CALM, -1);
    }
    assertThat(activator.arrivals).hasValue(0);
  }

  @Test
  void endsAConnectionThatSendsEmptyParts() throws Exception {
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, false, head());
      Flood.of(caller.peer(), RawHttp2.bytes(RawHttp2.DATA, 0, 1, new byte[0]));
      assertThat(caller.awaitEnd()).isIn(ENHANCE_YOUR_CALM, -1);
    }
  }

  @Test
  @DisplayName("reads a megabyte of header and not more")
  void readsAMegabyteOfHeaderAndNotMore() throws Exception {
    pod();
    try (var caller = RawHttp2.caller(activator.connect())) {
      bigHead(caller, 1, 15 * 65_000);
      assertThat(caller.response(1)).isEqualTo("200 ");
      bigHead(caller, 3, 17 * 65_000);
      var refused = caller.read();
      assertThat(refused.fields()).contains(":status: 431",
          "content-type: text/plain; charset=utf-8", "x-content-type-options: nosniff");
      assertThat(caller.body(3)).isEqualTo("431 Request Header Fields Too Large\n");

      // And the connection goes on.
      caller.headers(5, true, head());
      assertThat(caller.response(5)).isEqualTo("200 ");
    }
  }

  @Test
  void answersAPathThatIsTooLong() throws Exception {
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, head(":path", "/" + "a".repeat(17 * 65_000)));
      assertThat(caller.response(1)).startsWith("431 ");
    }
  }

  private static void bigHead(RawHttp2 caller, int stream, int bytes) throws IOException {
    caller.headers(stream, true, join(head(), "x-big", "a".repeat(bytes)));
  }

  private static String[] fields(int count) {
    var fields = new String[2 * count];
    Arrays.fill(fields, "x");
    return fields;
  }

  @Test
  void readsAThousandFieldsAndNotMore() throws Exception {
    pod();
    int own = head().length / 2;
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, join(head(), fields(1_001 - own)));
      assertThat(caller.response(1)).isEqualTo("431 431 Request Header Fields Too Large\n");

      caller.headers(3, true, join(head(), fields(1_000 - own)));
      assertThat(caller.response(3)).isEqualTo("200 ");
    }
    assertThat(activator.arrivals).hasValue(1);
  }

  @Test
  void readsAThousandTrailersAndNotMore() throws Exception {
    pod();
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, false, head());
      caller.headers(1, true, fields(1_001));
      assertThat(caller.read().type()).isEqualTo(RawHttp2.RST_STREAM);

      caller.headers(3, false, head());
      caller.headers(3, true, fields(1_000));
      assertThat(caller.response(3)).isEqualTo("200 ");
    }
  }

  @Test
  void takesNoMoreStreamsAtOnceThanItSays_evenToRefuseTheirHeads() throws Exception {
    try (var caller = RawHttp2.caller(activator.connect())) {
      for (int i = 0; i < 250; i++) {
        caller.headers(2 * i + 1, true, head());
      }
      bigHead(caller, 501, 17 * 65_000);

      var refused = caller.read();
      assertThat(refused.type()).isEqualTo(RawHttp2.RST_STREAM);
      assertThat(refused.stream()).isEqualTo(501);
      assertThat(refused.number()).isEqualTo(7);
    }
  }

  @Test
  void takesNoMoreStreamsAtOnceThanItSays() throws Exception {
    try (var caller = RawHttp2.caller(activator.connect())) {
      for (int i = 0; i < 251; i++) {
        caller.headers(2 * i + 1, true, head());
      }
      var refused = caller.read();
      assertThat(refused.type()).isEqualTo(RawHttp2.RST_STREAM);
      assertThat(refused.stream()).isEqualTo(501);
      assertThat(refused.number()).isEqualTo(7);
      assertThat(activator.arrivals).hasValue(250);
    }
  }

  @Test
  void servesTheOtherStreams_whenOneTooManyHasABody() throws Exception {
    pod();
    try (var caller = RawHttp2.caller(activator.connect())) {
      // Before it knows the limit, a caller may begin as many as it likes.
      for (int i = 0; i < 260; i++) {
        caller.headers(2 * i + 1, false, head(":method", "POST"));
        caller.data(2 * i + 1, false, "x");
      }
      for (int i = 250; i < 260; i++) {
        var refused = caller.read(RawHttp2.RST_STREAM);
        assertThat(refused.stream()).isEqualTo(2 * i + 1);
        assertThat(refused.number()).isEqualTo(7);
        caller.data(2 * i + 1, true, "y");
      }
      for (int i = 0; i < 250; i++) {
        caller.data(2 * i + 1, true, "y");
      }
      assertThat(caller.responses(250)).hasSize(250).containsValue("200 ");
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("resetting")
  void servesOtherStreams_whenAMalformedRequestHasABody(String what, String[] head)
      throws Exception {
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, false, head);
      caller.data(1, true, "body");
      // A stream behind it, and one that lies between.
      caller.headers(5, false, head);
      caller.data(5, true, "body");

      caller.headers(7, true, head("k-network-probe", "activator"));

      for (int stream = 1; stream <= 5; stream += 4) {
        var reset = caller.read();
        assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
        assertThat(reset.stream()).isEqualTo(stream);
      }
      assertThat(caller.response(7)).isEqualTo("200 activator");
    }
  }

  static Stream<Arguments> ending() {
    return Stream.of(
        Arguments.of("a frame that is too long", FRAME_SIZE_ERROR,
            RawHttp2.bytes(RawHttp2.DATA, 0, 1, new byte[16_385])),
        Arguments.of("a window that is too large", FLOW_CONTROL_ERROR,
            RawHttp2.bytes(RawHttp2.WINDOW_UPDATE, 0, 0,
                new byte[]{0x7f, (byte) 0xff, (byte) 0xff, (byte) 0xff})),
        Arguments.of("a head that cannot be read", COMPRESSION_ERROR, RawHttp2.bytes(
            RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, 3, new byte[]{-1, -1})),
        Arguments.of("a stream of a server", PROTOCOL_ERROR, RawHttp2.bytes(RawHttp2.HEADERS,
            RawHttp2.END_HEADERS | RawHttp2.END_STREAM, 2, RawHttp2.encode(head()))),
        Arguments.of("data before any head", PROTOCOL_ERROR,
            RawHttp2.bytes(RawHttp2.DATA, 0, 5, new byte[1])));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ending")
  void endsAConnectionThatCannotBeRead(String what, int error, byte[] frame) throws Exception {
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, false, head());
      caller.peer().send(frame);
      var last = caller.readAny();
      while (last.type() != RawHttp2.GOAWAY) {
        last = caller.readAny();
      }
      assertThat(last.number()).isEqualTo(error);
      // What the caller has sent on later streams was not seen, so it may be sent again.
      assertThat(ByteBuffer.wrap(last.payload()).getInt()).isEqualTo(1);
      caller.awaitEnd();
    }
    assertThat(activator.throttle.inFlight()).isZero();
  }

  @Test
  void doesNotWaitForEverForTheFirstFrame() throws Exception {
    startWith(Activator.Settings.DEFAULT.headTimeout(Duration.ofSeconds(1)));
    try (var peer = activator.connect(); var slow = activator.connect()) {
      peer.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
      slow.send("PRI * HT");
      peer.awaitEnd();
      slow.awaitEnd();
    }
  }

  static Stream<Arguments> slowHeads() {
    byte[] head = RawHttp2.encode(head());
    byte[] whole = RawHttp2.bytes(RawHttp2.HEADERS, RawHttp2.END_STREAM, 3, head);
    byte[] part = RawHttp2.bytes(RawHttp2.HEADERS, RawHttp2.END_STREAM | RawHttp2.END_HEADERS, 3,
        head);
    return Stream.of(Arguments.of("a head that is not continued", whole),
        Arguments.of("a frame of a head without its end",
            Arrays.copyOf(part, part.length - 1)),
        Arguments.of("a head that is continued, and not to its end",
            (new String(whole, StandardCharsets.ISO_8859_1) + new String(
                RawHttp2.bytes(RawHttp2.CONTINUATION, 0, 3, RawHttp2.encode("x", "y")),
                StandardCharsets.ISO_8859_1)).getBytes(StandardCharsets.ISO_8859_1)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("slowHeads")
  void doesNotWaitForEverForTheEndOfAHead(String what, byte[] bytes) throws Exception {
    // Long enough for the first head on a busy machine.
    startWith(Activator.Settings.DEFAULT.headTimeout(Duration.ofSeconds(4)));
    var pod = pod();
    try (var caller = RawHttp2.caller(activator.connect())) {
      // A connection may be idle for as long as it likes, and then begin a head.
      caller.headers(1, true, head("k-network-probe", "activator"));
      assertThat(caller.response(1)).isEqualTo("200 activator");

      caller.peer().send(bytes);

      assertThat(caller.awaitEnd()).isEqualTo(ENHANCE_YOUR_CALM);
    }
    assertThat(activator.arrivals).hasValue(0);
    assertThat(pod.connections()).isZero();
  }

  @Test
  void doesNotWaitForEverForACallerThatTakesNothing() throws Exception {
    // Long enough for the head on a busy machine.
    activator.timeouts(Duration.ofSeconds(5), Duration.ZERO, Duration.ZERO);
    pod(caller -> {
      var pod = RawHttp2.pod(caller);
      var frame = pod.read();
      pod.headers(frame.stream(), false, ":status", "200");
      for (int i = 0; i < 5; i++) {
        pod.data(frame.stream(), false, new byte[13_000]);
      }
      caller.awaitEnd();
    });
    try (var caller = RawHttp2.caller(activator.connect(), RawHttp2.INITIAL_WINDOW_SIZE, 0)) {
      caller.headers(1, true, head());
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().type()).isEqualTo(RawHttp2.RST_STREAM);
    }
  }
}
