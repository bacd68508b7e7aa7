package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.FrameBudget;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.ScriptedPod;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods that answer in HTTP/2 with what is malformed, or with too much: nobody else pays for it. */
class Http2PodStrictnessTest extends WireTest {
  private static final String[] GET = {":method", "GET", ":scheme", "http", ":path", "/",
      ":authority", "hello.example", "knative-serving-namespace", "default",
      "knative-serving-revision", "hello-00001"};

  private static final int MAX_INTERIM_RESPONSES = 100;

  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  @FunctionalInterface
  private interface Mischief {
    void to(RawHttp2 pod, int stream) throws IOException;
  }

  /** A pod that does this instead of its first answer. */
  private ScriptedPod pod(Mischief first) throws IOException {
    return pod(1, first);
  }

  /** A pod that does this instead of this one of its answers. */
  private ScriptedPod pod(int which, Mischief mischief) throws IOException {
    return pod(peer -> {
      var pod = RawHttp2.pod(peer);
      while (true) {
        var frame = pod.read();
        if (frame.ends()) {
          if (asked.incrementAndGet() == which) {
            mischief.to(pod, frame.stream());
          } else {
            ok(pod, frame.stream());
          }
        }
      }
    });
  }

  private static void ok(RawHttp2 pod, int stream) throws IOException {
    pod.headers(stream, false, ":status", "200");
    pod.data(stream, true, "ok");
  }

  private static byte[] times(int count, byte[] frame) {
    var all = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      all.writeBytes(frame);
    }
    return all.toByteArray();
  }

  private static void flood(RawHttp2 pod, byte[] frames) throws IOException {
    pod.peer().send(frames);
    pod.peer().awaitEnd();
  }

  @ParameterizedTest
  @ValueSource(strings = {" v", "v ", "\tv\t "})
  void removesBlanksAroundAValue(String padded) throws Exception {
    pod((pod, stream) -> {
      pod.headers(stream, false, ":status", "200", "x-padded", padded);
      pod.data(stream, true, "ok");
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      assertThat(caller.read().field("x-padded")).isEqualTo("v");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {" v", "v ", "\tv\t "})
  void removesBlanksAroundAValueOfATrailer(String padded) throws Exception {
    pod((pod, stream) -> {
      pod.headers(stream, false, ":status", "200");
      pod.headers(stream, true, "grpc-message", padded);
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().field("grpc-message")).isEqualTo("v");
    }
  }

  /** This one, and this many more. */
  private static String[] fields(String name, String value, int more) {
    var fields = new String[2 + 2 * more];
    Arrays.fill(fields, "x");
    fields[0] = name;
    fields[1] = value;
    return fields;
  }

  /** What ends the connection. */
  static Stream<Arguments> mischief() {
    byte[] y = RawHttp2.encode("x", "y");
    return Stream.of(
        row("a head without end", (pod, stream) -> {
          pod.frame(RawHttp2.HEADERS, 0, stream, RawHttp2.encode(":status", "200"));
          flood(pod, times(1_000, RawHttp2.bytes(RawHttp2.CONTINUATION, 0, stream, y)));
        }),
        row("a frame that is too long", (pod, stream) -> flood(pod,
            RawHttp2.bytes(RawHttp2.DATA, 0, stream, new byte[20_000]))),
        row("a pushed stream", (pod, stream) -> flood(pod, RawHttp2.bytes(5, RawHttp2.END_HEADERS,
            stream, new byte[]{0, 0, 0, 2}))),
        row("the connection's end", (pod, stream) -> pod.peer().reset()));
  }

  /** What ends its stream alone. */
  static Stream<Arguments> malformed() {
    return Stream.of(
        row("more than 10,000 fields", (pod, stream) -> pod.headers(stream, true,
            fields(":status", "200", 10_000))),
        row("more than 10,000 fields before the answer", (pod, stream) -> pod.headers(stream,
            false, fields(":status", "103", 10_000))),
        row("a status that is none", (pod, stream) -> pod.headers(stream, true, ":status", "x")),
        status("-99"),
        status("+20"),
        status("099"),
        status("99"),
        status("1000"),
        status("20x"),
        row("no status", (pod, stream) -> pod.headers(stream, true, "a", "b")),
        row("an upgrade", (pod, stream) -> pod.headers(stream, true, ":status", "101")),
        row("a header of a connection", (pod, stream) -> pod.headers(stream, true, ":status",
            "200", "connection", "close")),
        row("a line end in a value", (pod, stream) -> pod.headers(stream, true, ":status", "200",
            "x", "y\r\nz: 1")),
        row("a length without a body", (pod, stream) -> pod.headers(stream, true, ":status", "200",
            "content-length", "5")),
        row("a body without a head", (pod, stream) -> pod.data(stream, true, "x")),
        row("a reset", (pod, stream) -> pod.reset(stream, 2)));
  }

  private static Arguments status(String code) {
    return row("a status of " + code, (pod, stream) -> pod.headers(stream, true, ":status", code));
  }

  private static Arguments row(String what, Mischief mischief) {
    return Arguments.of(what, mischief);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource({"mischief", "malformed"})
  void answers502AndServesTheNext(String what, Mischief mischief) throws Exception {
    pod(mischief);
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      assertThat(caller.response(1)).startsWith("502 ");

      caller.headers(3, true, GET);
      assertThat(caller.response(3)).isEqualTo("200 ok");
    }
    // Nothing was asked twice.
    assertThat(asked).hasValue(2);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("malformed")
  void answers502ForOneStreamAndKeepsTheConnection_whenAResponseIsMalformed(String what,
      Mischief mischief)
      throws Exception {
    var pod = pod(2, mischief);
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      assertThat(caller.response(1)).isEqualTo("200 ok");

      caller.headers(3, true, GET);
      assertThat(caller.response(3)).startsWith("502 ");

      caller.headers(5, true, GET);
      assertThat(caller.response(5)).isEqualTo("200 ok");
    }
    assertThat(asked).hasValue(3);
    // Nobody else on it is the worse for it.
    eventually(() -> assertThat(pod.connections()).isOne());
  }

  @Test
  void answers502_whenAnInterimResponseEndsTheStreamOfAnUpload() throws Exception {
    pod(peer -> {
      var pod = RawHttp2.pod(peer);
      pod.headers(pod.read(RawHttp2.HEADERS).stream(), true, ":status", "103");
      peer.awaitEnd();
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      var upload = GET.clone();
      upload[1] = "POST";
      caller.headers(1, false, upload);
      assertThat(caller.read().field(":status")).isEqualTo("502");
    }
  }

  static Stream<Arguments> floods() {
    return Stream.of(
        row("pings nobody listens to", (pod, stream) -> floodWithoutListening(pod,
            RawHttp2.bytes(RawHttp2.PING, 0, 0, new byte[8]))),
        row("settings nobody listens to", (pod, stream) -> floodWithoutListening(pod,
            RawHttp2.bytes(RawHttp2.SETTINGS, 0, 0, new byte[0]))),
        endless("priorities", RawHttp2.bytes(2, 0, 1, new byte[]{0, 0, 0, 0, 16})),
        endless("windows of a byte", RawHttp2.bytes(8, 0, 0, new byte[]{0, 0, 0, 1})),
        endless("frames of an unknown type", RawHttp2.bytes(0xbe, 0, 0, new byte[0])),
        endless("resets of a stream that is over",
            RawHttp2.bytes(RawHttp2.RST_STREAM, 0, 1, new byte[]{0, 0, 0, 8})));
  }

  private static Arguments endless(String what, byte[] frame) {
    return row(what, (pod, _) -> floodWithoutListening(pod, frame));
  }

  private static void floodWithoutListening(RawHttp2 pod, byte[] frame) throws IOException {
    try {
      Flood.of(pod.peer(), times(1_000, frame)).awaitCutOff();
    } catch (InterruptedException stopped) {
      throw new IOException(stopped);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("floods")
  void endsAConnectionThatFloods(String what, Mischief mischief) throws Exception {
    var pod = pod((to, stream) -> {
      ok(to, stream);
      mischief.to(to, stream);
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      assertThat(caller.response(1)).isEqualTo("200 ok");

      // The next one may still meet the bad connection, and is then asked again on another.
      for (int stream = 3; pod.connections() < 2; stream += 2) {
        caller.headers(stream, true, GET);
        assertThat(caller.response(stream)).isEqualTo("200 ok");
      }
    }
  }

  @Test
  void answers502AndKeepsTheConnection_whenAResponseHasTooManyInterimOnes() throws Exception {
    var pod = pod((to, stream) -> {
      for (int i = 0; i < 2 * MAX_INTERIM_RESPONSES; i++) {
        to.headers(stream, false, ":status", "103");
      }
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      int interims = 0;
      var head = caller.read();
      while (head.field(":status").equals("103")) {
        interims++;
        head = caller.read();
      }
      assertThat(head.field(":status")).isEqualTo("502");
      assertThat(caller.body(1)).isEqualTo("too many interim responses\n");
      // One more for each second that passes while they come.
      assertThat(interims).isBetween(MAX_INTERIM_RESPONSES, 2 * MAX_INTERIM_RESPONSES - 1);

      caller.headers(3, true, GET);
      assertThat(caller.response(3)).isEqualTo("200 ok");
    }
    assertThat(pod.connections()).isOne();
  }

  @Test
  void breaksOffAResponseOfEmptyParts() throws Exception {
    pod((to, stream) -> {
      to.headers(stream, false, ":status", "200");
      try {
        flood(to,
            times(2 * FrameBudget.BURST, RawHttp2.bytes(RawHttp2.DATA, 0, stream, new byte[0])));
      } finally {
        ended.incrementAndGet();
      }
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().type()).isEqualTo(RawHttp2.RST_STREAM);
      eventually(() -> assertThat(ended).hasValue(1));

      caller.headers(3, true, GET);
      assertThat(caller.response(3)).isEqualTo("200 ok");
    }
  }

  /** Behind HTTP/1, the next response would be taken for the body. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void breaksOffAResponseThatEndsWithoutTheBodyItHasALengthOf(boolean trailers) throws Exception {
    pod((to, stream) -> {
      to.headers(stream, false, ":status", "200", "content-length", "5");
      if (trailers) {
        to.headers(stream, true, "x-sum", "2");
      } else {
        to.data(stream, true, "");
      }
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      assertThat(caller.read(RawHttp2.RST_STREAM).number()).isEqualTo(2);

      caller.headers(3, true, GET);
      assertThat(caller.response(3)).isEqualTo("200 ok");
    }
  }

  /** A 304 and the answer to HEAD may name the length that a GET would have. */
  @ParameterizedTest
  @CsvSource({"GET, 304, content-length: 5", "HEAD, 200, content-length: 5", "GET, 204,",
      "GET, 205,"})
  void passesOnALengthWithoutABodyWhereItMeansSomethingElse(String method, String status,
      String field) throws Exception {
    pod((to, stream) -> to.headers(stream, true, ":status", status, "content-length", "5"));
    try (var caller = RawHttp2.caller(activator.connect())) {
      var asks = GET.clone();
      asks[1] = method;
      caller.headers(1, true, asks);
      var head = caller.read();
      assertThat(head.ends()).isTrue();
      assertThat(head.fields()).containsExactlyElementsOf(Stream.of(":status: " + status, field)
          .filter(Objects::nonNull).toList());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "00", "0, 0"})
  void passesOnAResponseWithoutABody_howeverItsLengthOfZeroIsWritten(String length)
      throws Exception {
    pod((to, stream) -> to.headers(stream, true, ":status", "200", "content-length", length));
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      assertThat(caller.read().fields()).containsExactly(":status: 200", "content-length: 0");
    }
  }

  @Test
  void passesOnTrailersWithoutALengthAmongThem() throws Exception {
    var pod = pod((to, stream) -> {
      to.headers(stream, false, ":status", "200");
      to.headers(stream, true, "x-sum", "2", "content-length", "7", "trailer", "x-sum");
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().fields()).containsExactly("x-sum: 2");

      caller.headers(3, true, GET);
      assertThat(caller.response(3)).isEqualTo("200 ok");
    }
    eventually(() -> assertThat(pod.connections()).isOne());
  }

  @Test
  void breaksOffAResponseWithMoreThanTenThousandTrailers() throws Exception {
    pod((to, stream) -> {
      to.headers(stream, false, ":status", "200");
      to.headers(stream, true, fields("x", "y", 10_000));
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().type()).isEqualTo(RawHttp2.RST_STREAM);

      caller.headers(3, true, GET);
      assertThat(caller.response(3)).isEqualTo("200 ok");
    }
  }

  @Test
  void passesByResetsOfWhatIsOver() throws Exception {
    var pod = pod((to, stream) -> {
      ok(to, stream);
      to.peer().send(times(100,
          RawHttp2.bytes(RawHttp2.RST_STREAM, 0, stream, new byte[]{0, 0, 0, 8})));
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      for (int stream = 1; stream < 10; stream += 2) {
        caller.headers(stream, true, GET);
        assertThat(caller.response(stream)).isEqualTo("200 ok");
      }
    }
    eventually(() -> assertThat(pod.connections()).isOne());
  }

  @Test
  void passesResetsOnAndKeepsTheConnection() throws Exception {
    var pod = pod(peer -> {
      var http2 = RawHttp2.pod(peer);
      while (true) {
        var frame = http2.read();
        if (frame.ends()) {
          asked.incrementAndGet();
          http2.reset(frame.stream(), 2);
        }
      }
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      for (int i = 0; i < 200; i++) {
        caller.headers(2 * i + 1, true, GET);
        assertThat(caller.response(2 * i + 1))
            .isEqualTo("502 the pod reset the stream: INTERNAL_ERROR\n");
      }
    }
    assertThat(asked).hasValue(200);
    eventually(() -> assertThat(pod.connections()).isOne());
  }

  @Test
  void isNotSentAGetAgain_thatCausedAnErrorOfItsConnection() throws Exception {
    pod(peer -> {
      var http2 = RawHttp2.pod(peer);
      ok(http2, http2.read(RawHttp2.HEADERS).stream());
      int second = http2.read(RawHttp2.HEADERS).stream();
      asked.incrementAndGet();
      http2.goAway(second, 9);
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GET);
      assertThat(caller.response(1)).isEqualTo("200 ok");
      caller.headers(3, true, GET);
      assertThat(caller.response(3))
          .isEqualTo("502 the pod reported an error of the connection\n");
    }
    assertThat(asked).hasValue(1);
  }
}
