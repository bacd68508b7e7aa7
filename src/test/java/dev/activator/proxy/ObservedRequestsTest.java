package dev.activator.proxy;

import static dev.activator.observability.RequestObserver.Step.ARRIVED;
import static dev.activator.observability.RequestObserver.Step.ENDED;
import static dev.activator.observability.RequestObserver.Step.FORWARDING;
import static dev.activator.observability.RequestObserver.Step.GRANTED;
import static dev.activator.observability.RequestObserver.Step.QUEUED;
import static dev.activator.observability.RequestObserver.Step.RESPONDING;
import static dev.activator.observability.RequestObserver.Step.UNDELIVERED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.activator.testing.ScriptedPod;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.SeenRequests.Seen;
import dev.activator.testing.RawHttp2;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What those who listen hear of requests, over real sockets. */
class ObservedRequestsTest extends WireTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final String BEGUN = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok";

  @Test
  void reportsARequestThatIsAnswered() throws Exception {
    var pod = pod(OK);
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST /greet?a=b HTTP/1.1", "Content-Length: 5", "User-Agent: me");
      caller.send("hello");
      assertThat(response(caller)).isEqualTo("200 ok");

      var seen = ended(RequestOutcome.ANSWERED, 200);
      assertThat(seen.steps()).containsExactly(ARRIVED, GRANTED, FORWARDING, RESPONDING, ENDED);
      var request = seen.request();
      assertThat(request.method()).isEqualTo("POST");
      assertThat(request.path()).isEqualTo("/greet?a=b");
      assertThat(request.host()).isEqualTo("hello.example");
      assertThat(request.protocol()).isEqualTo("HTTP/1.1");
      assertThat(request.peer()).isEqualTo("127.0.0.1");
      assertThat(request.peerPort()).isPositive();
      assertThat(request.header("user-agent")).isEqualTo("me");
      assertThat(request.secure()).isFalse();
      assertThat(request.requestBytes()).isEqualTo(5);
      assertThat(request.responseBytes()).isEqualTo(2);
      assertThat(request.destination()).isEqualTo(pod.destination());
      assertThat(request.endedNanos()).isGreaterThan(request.arrivedNanos());
    }
  }

  @Test
  void reportsTheSameOfHttp2() throws Exception {
    startWith(Activator.Settings.DEFAULT.slow());
    pod(caller -> {
      var pod = RawHttp2.pod(caller);
      while (true) {
        var frame = pod.read();
        if (frame.ends()) {
          pod.headers(frame.stream(), false, ":status", "200");
          pod.data(frame.stream(), true, "ok");
        }
      }
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, false, ":method", "POST", ":scheme", "http", ":path", "/greet",
          ":authority", "hello.example", "knative-serving-namespace", "default",
          "knative-serving-revision", "hello-00001");
      caller.data(1, true, "hello");
      caller.response(1);

      var seen = ended(RequestOutcome.ANSWERED, 200);
      assertThat(seen.steps()).containsExactly(ARRIVED, GRANTED, FORWARDING, RESPONDING, ENDED);
      assertThat(seen.request().protocol()).isEqualTo("HTTP/2.0");
      assertThat(seen.request().host()).isEqualTo("hello.example");
      assertThat(seen.request().requestBytes()).isEqualTo(5);
      assertThat(seen.request().responseBytes()).isEqualTo(2);
    }
  }

  @Test
  void reportsThatARequestWaits() throws Exception {
    try (var caller = activator.get("/")) {
      eventually(() -> assertThat(activator.throttle.queued()).isOne());
      pod(OK);
      assertThat(response(caller)).isEqualTo("200 ok");

      var seen = ended(RequestOutcome.ANSWERED, 200);
      assertThat(seen.steps()).containsExactly(ARRIVED, QUEUED, GRANTED, FORWARDING, RESPONDING,
          ENDED);
      var phases = seen.request().phases();
      assertThat(phases.totalNanos())
          .isEqualTo(seen.request().respondedNanos() - seen.request().arrivedNanos());
      assertThat(phases.dial()).isPositive();
    }
  }

  @Test
  void reportsARequestForNoRevision() throws Exception {
    try (var caller = activator.connect()) {
      caller.send("GET / HTTP/1.1\r\nHost: nobody.example:8012\r\n\r\n");
      assertThat(caller.readHead().start()).contains("404");

      var seen = ended(RequestOutcome.REVISION_UNKNOWN, 404);
      assertThat(seen.steps()).containsExactly(ARRIVED, ENDED);
      assertThat(seen.request().revision()).isNull();
      assertThat(seen.request().host()).isEqualTo("nobody.example:8012");
      assertThat(seen.request().responseBytes()).isPositive();
    }
  }

  @Test
  @DisplayName("reports no probes")
  void reportsNothingOfProbes() throws Exception {
    try (var caller = activator.connect()) {
      caller.send("GET / HTTP/1.1\r\nHost: a\r\nK-Network-Probe: activator\r\n\r\n");
      assertThat(response(caller)).isEqualTo("200 activator");
      caller.send("GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: kube-probe/1.34\r\n\r\n");
      assertThat(caller.readHead().start()).contains("200");

      assertThat(activator.requests.ended).isEmpty();
    }
  }

  @Test
  void reportsARequestThatIsRejected() throws Exception {
    try (var caller = activator.get("/")) {
      eventually(() -> assertThat(activator.throttle.queued()).isOne());
      activator.throttle.reject(new Rejection.QueueFull(Activator.HELLO, 1));
      assertThat(caller.readHead().start()).contains("503");

      var seen = ended(RequestOutcome.QUEUE_FULL, 503);
      assertThat(seen.steps()).containsExactly(ARRIVED, QUEUED, ENDED);
      assertThat(seen.request().responseBytes())
          .isEqualTo("pending request queue full\n".length());
    }
  }

  @Test
  void reportsARequestWhoseTimeIsOver() throws Exception {
    activator.timeouts(Duration.ofMillis(50), Duration.ZERO, Duration.ZERO);
    try (var caller = activator.get("/")) {
      assertThat(caller.readHead().start()).contains("504");

      ended(RequestOutcome.REQUEST_TIMEOUT, 504);
    }
  }

  @Test
  void reportsAResponseThatIsBrokenOffAsItsTimeIsOver() throws Exception {
    // Long enough for the head on a busy machine.
    activator.timeouts(Duration.ofSeconds(5), Duration.ZERO, Duration.ZERO);
    pod(caller -> {
      caller.readHead();
      caller.send(BEGUN);
      caller.readLine();
    });
    try (var caller = activator.get("/")) {
      assertThat(caller.readHead().start()).contains("200");

      var seen = ended(RequestOutcome.REQUEST_TIMEOUT, 504);
      assertThat(seen.request().responseStatus()).isEqualTo(200);
      assertThat(seen.request().responseBytes()).isEqualTo(2);
    }
  }

  @Test
  void reportsACallerThatGoesWhileItWaits() throws Exception {
    var caller = activator.get("/");
    eventually(() -> assertThat(activator.throttle.queued()).isOne());
    caller.close();

    var seen = ended(RequestOutcome.CALLER_GONE, 499);
    assertThat(seen.steps()).containsExactly(ARRIVED, QUEUED, ENDED);
  }

  @Test
  void reportsACallerThatGoesDuringTheResponse() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send(BEGUN);
      caller.readLine();
    });
    var caller = activator.get("/");
    caller.readHead();
    caller.close();

    var seen = ended(RequestOutcome.CALLER_GONE, 499);
    assertThat(seen.request().responded()).isTrue();
  }

  @Test
  @DisplayName("reports a response that its pod breaks off")
  void reportsAResponseThatItsPodBreaksOff() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send(BEGUN);
    });
    try (var caller = activator.get("/")) {
      caller.readHead();

      var seen = ended(RequestOutcome.BAD_GATEWAY, 502);
      assertThat(seen.request().failure()).isEqualTo("connection closed before the response ended");
      assertThat(seen.request().responseStatus()).isEqualTo(200);
    }
  }

  @Test
  void reportsARequestThatIsDeliveredToAnotherPod() throws Exception {
    activator.throttle.grow(ScriptedPod.nobody(), 1);
    var pod = idlePod(caller -> {
      caller.readHead();
      caller.send(OK);
      caller.readLine();
    });
    activator.throttle.retriesGoTo(pod.destination());
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("200 ok");

      var seen = ended(RequestOutcome.ANSWERED, 200);
      assertThat(seen.steps()).containsExactly(ARRIVED, GRANTED, FORWARDING, UNDELIVERED, QUEUED,
          GRANTED, FORWARDING, RESPONDING, ENDED);
      assertThat(seen.request().retries()).isOne();
      assertThat(seen.request().destination()).isEqualTo(pod.destination());
      assertThat(seen.request().failure()).isNull();
    }
  }

  @Test
  @DisplayName("reports another protocol like a 200, and counts its bytes")
  void reportsAnotherProtocol() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller
          .send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\n");
      caller.read(4);
      caller.send("world");
    });
    try (var caller = activator.get("/", "Connection: Upgrade", "Upgrade: chat")) {
      assertThat(caller.readHead().start()).contains("101");
      caller.send("ping");
      assertThat(caller.readToEnd()).isEqualTo("world");
      caller.endOutput();

      var seen = ended(RequestOutcome.UPGRADED, 200);
      assertThat(seen.request().responseStatus()).isEqualTo(101);
      assertThat(seen.request().requestBytes()).isEqualTo(4);
      assertThat(seen.request().responseBytes()).isEqualTo(5);
    }
  }

  @Test
  void reportsTheFinalStatusAfterOthers() throws Exception {
    pod("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
    try (var caller = activator.get("/")) {
      assertThat(caller.readHead().start()).contains("103");
      assertThat(caller.readHead().start()).contains("201");

      ended(RequestOutcome.ANSWERED, 201);
    }
  }

  @Test
  void letsHeadersOfTheRequestAndTheResponseBeChanged() throws Exception {
    activator.requests.mark = "x";
    pod(OK);
    try (var caller = activator.get("/", "X-Mark: y")) {
      var head = caller.readHead();
      caller.readBody(head);
      assertThat(head.header("X-Mark")).isEqualTo("x");
      assertThat(seen().header("X-Mark")).isEqualTo("x");
    }
  }

  @Test
  void letsNoHeaderBeAddedToAResponseThatHasBegun() throws Exception {
    pod(OK);
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    var request = ended(RequestOutcome.ANSWERED, 200).request();
    assertThatIllegalStateException().isThrownBy(() -> request.addResponseHeader("X-Mark", "x"));
  }

  @Test
  void showsTheHeadersOfThePodsResponseWhenItBegins() throws Exception {
    var pod = pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Session: a\r\nX-Session: b\r\n\r\nok");
    var shown = new LinkedBlockingQueue<String>();
    activator.requests.showTo((step, request) -> shown.add(step + " "
        + request.responseHeaders("x-session") + " " + pod.destination().equals(request.pod())));
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("200 ok");
      ended(RequestOutcome.ANSWERED, 200);
    }

    assertThat(shown).containsExactly("ARRIVED [] false", "GRANTED [] true", "FORWARDING [] true",
        "RESPONDING [a, b] true", "ENDED [] true");
  }

  private Seen ended(RequestOutcome outcome, int status) throws InterruptedException {
    var seen = next(activator.requests.ended);
    assertThat(seen.request().outcome()).isEqualTo(outcome);
    assertThat(seen.request().status()).isEqualTo(status);
    return seen;
  }
}
