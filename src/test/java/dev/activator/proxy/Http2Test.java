package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import dev.activator.testing.ScriptedPod;
import dev.activator.throttle.admission.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Requests in HTTP/2 without TLS, from callers that know it is spoken here. */
class Http2Test extends WireTest {
  private static final String[] TO_HELLO = {":method", "GET", ":scheme", "http", ":authority",
      "hello.example", "knative-serving-namespace", "default", "knative-serving-revision",
      "hello-00001"};

  private final BlockingQueue<RawHttp2.Frame> frames = new LinkedBlockingQueue<>();

  private RawHttp2 connect(int... settings) throws IOException {
    return RawHttp2.caller(activator.connect(), settings);
  }

  private static String[] get(String path, String... more) {
    return head("GET", path, more);
  }

  private static String[] head(String method, String path, String... more) {
    var all = new ArrayList<>(List.of(":path", path));
    all.addAll(List.of(TO_HELLO));
    all.set(all.indexOf(":method") + 1, method);
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  /** A pod that speaks HTTP/2 and keeps all frames that come, and permits for it. */
  private ScriptedPod pod(Answer answer, int... settings) throws IOException {
    return pod(caller -> {
      var pod = RawHttp2.pod(caller, settings);
      while (true) {
        var frame = pod.read();
        frames.add(frame);
        answer.to(pod, frame);
      }
    });
  }

  @FunctionalInterface
  private interface Answer {
    void to(RawHttp2 pod, RawHttp2.Frame frame) throws IOException;
  }

  private static void ok(RawHttp2 pod, RawHttp2.Frame frame) throws IOException {
    if (frame.ends()) {
      pod.headers(frame.stream(), false, ":status", "200", "x-a", "b");
      pod.data(frame.stream(), true, "ok");
    }
  }

  @Test
  @DisplayName("AH-28 asks a pod in HTTP/2 what it was asked in HTTP/2, whatever the revision's protocol")
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
    assertThat(pod.connections()).isEqualTo(1);
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
    assertThat(pod.connections()).isEqualTo(3);
  }

  @Test
  @DisplayName("AH-23 resets the pod's stream, and gives the permit back, when the caller resets its own")
  void cancelsWhatTheCallerCancels() throws Exception {
    pod((pod, frame) -> {
    });
    try (var caller = connect()) {
      caller.headers(1, false, head("POST", "/"));
      assertThat(next(frames).type()).isEqualTo(RawHttp2.HEADERS);
      assertThat(activator.throttle.inFlight()).isEqualTo(1);

      caller.reset(1, 8);

      var reset = next(frames);
      assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
      assertThat(reset.number()).isEqualTo(8);
      awaitIdle();

      // And the connection goes on.
      caller.headers(3, true, get("/", "k-network-probe", "activator"));
      assertThat(caller.response(3)).isEqualTo("200 activator");
    }
  }

  @Test
  void givesUpThePlaceOfAStreamThatIsReset() throws Exception {
    try (var caller = connect()) {
      // More body than is read while it waits.
      caller.headers(1, false, head("POST", "/"));
      for (int i = 0; i < 4; i++) {
        caller.data(1, false, new byte[16_000]);
      }
      eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(1));

      caller.reset(1, 8);

      eventually(() -> assertThat(activator.throttle.queued()).isZero());
    }
  }

  @Test
  void breaksOffAResponseThatThePodBreaksOff() throws Exception {
    pod((pod, frame) -> {
      pod.headers(frame.stream(), false, ":status", "200");
      pod.data(frame.stream(), false, "half");
      pod.reset(frame.stream(), 2);
    });
    try (var caller = connect()) {
      caller.headers(1, true, get("/"));
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().text()).isEqualTo("half");
      var reset = caller.read();
      assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
      assertThat(reset.number()).isEqualTo(2);
    }
  }

  @Test
  void saysThatThePodDidNotAnswer() throws Exception {
    pod((pod, frame) -> pod.reset(frame.stream(), 2));
    try (var caller = connect()) {
      caller.headers(1, true, get("/"));
      assertThat(caller.response(1)).isEqualTo("502 the pod cancelled the request\n");
    }
  }

  @Test
  void asksAgainWhatThePodRefusedUnseen() throws Exception {
    // Each connection takes one request, refuses the next as it goes away, and is then gone.
    var pod = pod((to, frame) -> {
      if (frame.type() == RawHttp2.HEADERS && frame.stream() == 3) {
        ok(to, frame);
      } else if (frame.type() == RawHttp2.HEADERS) {
        to.goAway(3, 0);
      }
    });
    try (var caller = connect()) {
      for (int i = 0; i < 10; i++) {
        caller.headers(2 * i + 1, true, get("/" + i));
        assertThat(caller.response(2 * i + 1)).isEqualTo("200 ok");
      }
    }
    assertThat(pod.connections()).isEqualTo(10);
  }

  @Test
  void asksAgainAlsoWithABodyWhatThePodRefusedUnseen() throws Exception {
    pod((to, frame) -> {
      if (frame.stream() == 3) {
        ok(to, frame);
      } else if (frame.ends()) {
        to.reset(frame.stream(), 7);
        to.goAway(3, 0);
      }
    });
    try (var caller = connect()) {
      for (int i = 0; i < 4; i++) {
        caller.headers(2 * i + 1, false, head("POST", "/" + i));
        caller.data(2 * i + 1, true, "body " + i);
        assertThat(caller.response(2 * i + 1)).isEqualTo("200 ok");
      }
    }
  }

  @Test
  void takesNoMoreOfAnUploadThanThePodDoes() throws Exception {
    pod((pod, frame) -> {
    });
    try (var caller = connect()) {
      caller.read(RawHttp2.SETTINGS);
      caller.headers(1, false, head("POST", "/"));
      // The pod takes 64 KiB and no more; then as much may be held here, and be on its way here.
      int sent = 0;
      for (int window = 64 << 10; window >= 16_384; window += moreWindow(caller)) {
        for (; window >= 16_384; window -= 16_384) {
          caller.data(1, false, new byte[16_384]);
          sent += 16_384;
        }
      }
      assertThat(sent).isBetween(4 * 16_384, 16 * 16_384);
      caller.reset(1, 8);
    }
  }

  /** By how much the window of stream 1 has grown when all that was sent has been read. */
  private static int moreWindow(RawHttp2 caller) throws IOException {
    caller.frame(RawHttp2.PING, 0, 0, new byte[8]);
    int more = 0;
    for (var frame = caller.readAny(); frame.type() != RawHttp2.PING; frame = caller.readAny()) {
      if (frame.type() == RawHttp2.WINDOW_UPDATE && frame.stream() == 1) {
        more += frame.number();
      }
    }
    return more;
  }

  @Test
  void takesNoMoreOfADownloadThanTheCallerDoes() throws Exception {
    pod((pod, frame) -> {
      if (frame.type() == RawHttp2.HEADERS) {
        pod.headers(frame.stream(), false, ":status", "200");
        for (int sent = 0; sent < 65_535; sent += 13_107) {
          pod.data(frame.stream(), false, new byte[13_107]);
        }
      }
    });
    try (var caller = connect(RawHttp2.INITIAL_WINDOW_SIZE, 1_000)) {
      caller.headers(1, true, get("/"));
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().payload()).hasSize(1_000);

      // Another stream is not kept waiting.
      caller.headers(3, true, get("/", "k-network-probe", "activator"));
      assertThat(caller.response(3)).isEqualTo("200 activator");

      caller.window(0, 1_000).window(1, 64_535);
      int left = 64_535;
      while (left > 0) {
        left -= caller.read().payload().length;
      }
      assertThat(left).isZero();
      caller.reset(1, 8);
    }
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
  void timesOutARequestThatTakesTooLong() throws Exception {
    activator.timeouts(Duration.ofMillis(50), Duration.ZERO, Duration.ZERO);
    try (var caller = connect()) {
      caller.headers(1, true, get("/"));
      caller.headers(3, true, get("/"));
      assertThat(caller.responses(2)).containsOnlyKeys(1, 3)
          .containsValue("504 activator request timeout");
    }
  }

  @Test
  void stopsABodyNobodyWants() throws Exception {
    try (var caller = connect()) {
      caller.headers(1, false, head("POST", "/", "k-network-probe", "activator"));
      assertThat(caller.response(1)).isEqualTo("200 activator");
      var reset = caller.read();
      assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
      assertThat(reset.number()).isZero();
    }
  }

  @Test
  void drainsWithoutRefusingWhatWasOnItsWay() throws Exception {
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
      // Sent before the caller knew.
      caller.headers(3, true, get("/3"));
      caller.frame(RawHttp2.PING, RawHttp2.ACK, 0, new byte[8]);
      var second = caller.read();
      assertThat(second.type()).isEqualTo(RawHttp2.GOAWAY);
      assertThat(second.text().substring(0, 4)).isEqualTo("\0\0\0\3");
      assertThat(drained).isNotDone();

      pod(Http2Test::ok);
      assertThat(caller.responses(2)).isEqualTo(Map.of(1, "200 ok", 3, "200 ok"));
      assertThat(caller.awaitEnd()).isEqualTo(-1);
      drained.get(30, TimeUnit.SECONDS);
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
