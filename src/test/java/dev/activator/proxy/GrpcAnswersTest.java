package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawHttp2.Frame;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Answers of the activator itself to gRPC callers. */
class GrpcAnswersTest extends WireTest {
  private static final String[] TO_HELLO = {":method", "POST", ":scheme", "http", ":path",
      "/echo.Echo/Say", ":authority", "hello.example", "content-type", "application/grpc", "te",
      "trailers", "knative-serving-namespace", "default", "knative-serving-revision",
      "hello-00001"};

  private Frame answer(String... head) throws Exception {
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, head);
      return caller.read();
    }
  }

  private static void assertTrailersOnly(Frame answer, int status, String message) {
    assertThat(answer.type()).isEqualTo(RawHttp2.HEADERS);
    assertThat(answer.ends()).isTrue();
    assertThat(answer.fields()).contains(":status: 200", "content-type: application/grpc",
        "grpc-status: " + status, "grpc-message: " + message);
    assertThat(answer.field("content-length")).isNull();
  }

  private int recordedStatus() throws InterruptedException {
    return next(activator.requests.ended).request().status();
  }

  @Test
  void areTrailersOnly_andTheRecordedStatusIsThatOfHttp() throws Exception {
    var unknown = TO_HELLO.clone();
    unknown[unknown.length - 1] = "nobody";
    assertTrailersOnly(answer(unknown), 12,
        "Error getting active endpoint: revision.serving.knative.dev \"nobody\" not found");
    assertThat(recordedStatus()).isEqualTo(404);
  }

  @Test
  void sayThatTheDeadlineIsExceeded_whenNoPodTookTheRequestInTime() throws Exception {
    activator.timeouts(Duration.ofMillis(50), Duration.ofMillis(50), Duration.ofMillis(50));
    assertTrailersOnly(answer(TO_HELLO), 4, "activator request timeout");
    assertThat(recordedStatus()).isEqualTo(504);
  }

  @Test
  void sayThatTheRevisionIsUnavailable_whenItsPodBreaksOff() throws Exception {
    pod(ignored -> {
    });
    assertTrailersOnly(answer(TO_HELLO), 14, "the pod does not answer in HTTP/2");
    assertThat(recordedStatus()).isEqualTo(502);
  }

  /** What a caller gets after the first message of a pod that then closes its connection. */
  private Frame afterTheFirstMessage(String... head) throws Exception {
    var toClose = new CompletableFuture<Void>();
    pod(peer -> {
      var pod = RawHttp2.pod(peer);
      int stream = pod.read(RawHttp2.HEADERS).stream();
      pod.headers(stream, false, head);
      pod.data(stream, false, "message");
      toClose.join();
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, TO_HELLO);
      assertThat(caller.read().field(":status")).isEqualTo("200");
      assertThat(caller.read().text()).isEqualTo("message");
      toClose.complete(null);
      return caller.read();
    }
  }

  @Test
  void areTrailers_whenThePodIsGoneInTheMiddleOfItsResponse() throws Exception {
    var end = afterTheFirstMessage(":status", "200", "content-type", "application/grpc+proto");
    assertThat(end.type()).isEqualTo(RawHttp2.HEADERS);
    assertThat(end.ends()).isTrue();
    assertThat(end.fields()).containsExactlyInAnyOrder("grpc-status: 14",
        "grpc-message: connection closed before the response ended");
  }

  @Test
  void areResets_inResponsesThatTrailersCannotEnd() throws Exception {
    assertThat(
        afterTheFirstMessage(":status", "200", "content-type", "application/grpc-web").type())
        .isEqualTo(RawHttp2.RST_STREAM);
    assertThat(afterTheFirstMessage(":status", "200", "content-type", "application/grpc",
        "content-length", "100").type()).isEqualTo(RawHttp2.RST_STREAM);
  }

  @Test
  void areResets_whenATimeoutEndsAResponseThatItsCallerDoesNotRead() throws Exception {
    startWith(Activator.Settings.DEFAULT.headTimeout(Duration.ofMinutes(10)));
    pod(peer -> {
      var pod = RawHttp2.pod(peer);
      int stream = pod.read(RawHttp2.HEADERS).stream();
      pod.headers(stream, false, ":status", "200", "content-type", "application/grpc");
      pod.data(stream, false, "message");
      pod.read(RawHttp2.RST_STREAM);
    });
    var idle = Duration.ofMillis(200);
    while (!isResetWhenIdle(idle)) {
      // The response came too late: a core may be waited for.
      idle = idle.multipliedBy(4);
    }
    eventually(() -> assertThat(activator.unread.total()).isZero());
  }

  /** Whether the timeout ends a response of which one byte is taken, and not what comes before. */
  private boolean isResetWhenIdle(Duration timeout) throws Exception {
    activator.timeouts(Duration.ofMinutes(2), Duration.ZERO, timeout);
    try (var caller = RawHttp2.caller(activator.connect(), RawHttp2.INITIAL_WINDOW_SIZE, 1)) {
      caller.headers(1, true, TO_HELLO);
      var head = caller.read();
      assertThat(head.field(":status")).isEqualTo("200");
      var data = head.ends() ? head : caller.read();
      if (data.ends()) {
        return false;
      }
      assertThat(data.text()).isEqualTo("m");
      assertThat(caller.read().type()).isEqualTo(RawHttp2.RST_STREAM);
      return true;
    }
  }

  @Test
  void haveTheStatusOfHttp_forOtherCallersOfHttp2() throws Exception {
    var web = TO_HELLO.clone();
    web[9] = "application/grpc-web";
    web[web.length - 1] = "nobody";
    var answer = answer(web);
    assertThat(answer.field(":status")).isEqualTo("404");
    assertThat(answer.field("grpc-status")).isNull();
  }
}
