package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Requests whose time to wait is limited by their revision, or by their caller. */
class WaitingTimeTest extends WireTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  @Test
  void endsWithTheTimeToWaitAndSaysSo() throws Exception {
    activator.throttle.queueTimeout = Duration.ofMillis(50);
    try (var caller = activator.get("/")) {
      var head = caller.readHead();

      assertThat(head.start()).isEqualTo("HTTP/1.1 504 Gateway Timeout");
      assertThat(head.header(RequestFailure.REASON)).isEqualTo("queue-timeout");
      assertThat(caller.readBody(head))
          .isEqualTo("activator request timeout: no pod was free in time");
    }
  }

  @Test
  void endsWithTheTimeForAStart_andNamesIt() throws Exception {
    activator.throttle.queueTimeout = Duration.ofHours(1);
    activator.throttle.startTimeout = Duration.ofMillis(50);
    try (var caller = activator.get("/")) {
      var head = caller.readHead();

      assertThat(head.start()).isEqualTo("HTTP/1.1 504 Gateway Timeout");
      assertThat(head.header(RequestFailure.REASON)).isEqualTo("start-timeout");
      assertThat(caller.readBody(head))
          .isEqualTo("activator request timeout: no pod started in time");
    }
  }

  @Test
  void answers504WithTheReasonInTheAcceptedFormat_whenTheQueueTimesOut() throws Exception {
    activator.throttle.queueTimeout = Duration.ofMillis(50);
    activator.status = new StartStatus(false, "no pod is listed", false, null, null, Duration.ZERO);
    try (var caller = activator.get("/", "Accept: application/json")) {
      var head = caller.readHead();

      assertThat(head.header("Content-Type")).isEqualTo("application/problem+json");
      assertThat(caller.readBody(head)).contains("\"status\":504,\"detail\":\"activator request"
          + " timeout: no pod was free in time: no pod is listed\",\"reason\":\"queue-timeout\"");
    }
    try (var caller = activator.get("/", "Accept: text/html")) {
      var head = caller.readHead();

      assertThat(head.header("Content-Type")).isEqualTo("text/html; charset=utf-8");
      assertThat(caller.readBody(head)).contains("no pod is listed", "queue-timeout");
    }
  }

  @Test
  void ignoresTheQueueTimeout_whenTheRequestIsNotQueued() throws Exception {
    activator.throttle.queueTimeout = Duration.ofMillis(1);
    pod(OK);
    try (var caller = activator.connect()) {
      for (int i = 0; i < 20; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
    }
  }

  @Test
  void endsWithTheDeadlineOfTheCaller() throws Exception {
    for (String header : new String[]{"grpc-timeout: 50m", "X-Envoy-Expected-Rq-Timeout-Ms: 50",
        "Request-Timeout: 1"}) {
      try (var caller = activator.get("/", header)) {
        var head = caller.readHead();

        assertThat(head.start()).isEqualTo("HTTP/1.1 504 Gateway Timeout");
        assertThat(head.header(RequestFailure.REASON)).isEqualTo("caller-deadline");
        assertThat(caller.readBody(head))
            .isEqualTo("activator request timeout: the deadline of the request has passed");
      }
    }
  }

  @Test
  void passesTheDeadlineOn() throws Exception {
    pod(OK);
    try (var caller = activator.get("/", "grpc-timeout: 50S", "Request-Timeout: 60")) {
      assertThat(response(caller)).isEqualTo("200 ok");
      var head = seen();
      assertThat(head.header("grpc-timeout")).isEqualTo("50S");
      assertThat(head.header("Request-Timeout")).isEqualTo("60");
    }
  }

  @Test
  void sendsNothingWhoseDeadlineHasPassed() throws Exception {
    // given pods, and a deadline that passes while the connection to one is made
    pod(OK);
    try (var caller = activator.get("/", "grpc-timeout: 1n")) {
      assertThat(response(caller)).startsWith("504 ");
    }
    assertThat(seen).isEmpty();
  }

  @Test
  void sendsNothingWhoseDeadlineHasPassed_whenAConnectionIsOpen() throws Exception {
    pod(OK);
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");
      seen();
      Activator.request(caller, "GET / HTTP/1.1", "grpc-timeout: 1n");
      assertThat(response(caller)).startsWith("504 ");
    }
    assertThat(seen).isEmpty();
  }

  @Test
  void saysWhichOfTheRevisionsTimeoutsIsOver() throws Exception {
    var none = Duration.ZERO;
    var some = Duration.ofMillis(50);
    var all = Duration.ofMinutes(5);
    assertReason(some, none, none, "request-timeout");
    assertReason(all, some, none, "response-start-timeout");
    assertReason(all, none, some, "idle-timeout");
  }

  private void assertReason(Duration overall, Duration start, Duration idle, String reason)
      throws Exception {
    activator.timeouts(overall, start, idle);
    try (var caller = activator.get("/")) {
      var head = caller.readHead();
      assertThat(head.header(RequestFailure.REASON)).isEqualTo(reason);
      assertThat(caller.readBody(head)).isEqualTo("activator request timeout");
    }
  }

  @Test
  void refusesWithRetryAfter() throws Exception {
    try (var caller = activator.get("/")) {
      eventually(() -> assertThat(activator.throttle.queued()).isOne());
      activator.throttle.reject(new Rejection.DeadlineTooNear(Activator.HELLO, 12));

      var head = caller.readHead();
      assertThat(head.start()).isEqualTo("HTTP/1.1 503 Service Unavailable");
      assertThat(head.header("Retry-After")).isEqualTo("12");
      assertThat(head.header(RequestFailure.REASON)).isEqualTo("deadline-too-near");
      assertThat(caller.readBody(head))
          .isEqualTo("the revision cannot start before the deadline of the request\n");
    }
  }
}
