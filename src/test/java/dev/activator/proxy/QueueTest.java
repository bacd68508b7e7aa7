package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionStartFailure;
import dev.activator.testing.RawPeer;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Requests that wait for their turn. */
class QueueTest extends WireTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  private void awaitQueued(int requests) {
    eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(requests));
  }

  @Test
  void runsARequestOnceItsTurnHasCome() throws Exception {
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 3");
      caller.send("abc");
      awaitQueued(1);
      assertThat(activator.counted).hasValue(1);

      pod(OK);

      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(seen().header("Content-Length")).isEqualTo("3");
    }
  }

  @Test
  void runsQueuedRequestsInTurn_whenThePodTakesOneAtATime() throws Exception {
    var pod = idlePod(caller -> {
      while (true) {
        seen.add(caller.readHead());
        caller.send(OK);
      }
    });
    try (var first = activator.get("/1")) {
      awaitQueued(1);
      try (var second = activator.get("/2")) {
        awaitQueued(2);
        activator.throttle.grow(pod.destination(), 1);

        assertThat(response(first)).isEqualTo("200 ok");
        assertThat(response(second)).isEqualTo("200 ok");
        assertThat(seen().start()).contains("/1");
        assertThat(seen().start()).contains("/2");
      }
    }
  }

  @Test
  @DisplayName("says why a request will not run")
  void saysWhyARequestWillNotRun() throws Exception {
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      awaitQueued(1);
      activator.throttle.reject(new Rejection.QueueFull(Activator.HELLO, 3));
      var head = caller.readHead();
      assertThat(head.start()).startsWith("HTTP/1.1 503 ");
      assertThat(head.header("Retry-After")).isEqualTo("3");
      assertThat(caller.readBody(head)).isEqualTo("pending request queue full\n");

      Activator.request(caller, "GET / HTTP/1.1");
      awaitQueued(1);
      activator.throttle.reject(new Rejection.RevisionGone(Activator.HELLO));
      assertThat(response(caller)).isEqualTo("404 Error getting active endpoint: "
          + "revision.serving.knative.dev \"hello-00001\" not found\n");

      Activator.request(caller, "GET / HTTP/1.1");
      awaitQueued(1);
      activator.throttle.reject(new Rejection.ShuttingDown(Activator.HELLO));
      assertThat(response(caller)).isEqualTo("503 the activator is shutting down, and no pod of"
          + " revision default/hello-00001 was free\n");

      Activator.request(caller, "GET / HTTP/1.1");
      awaitQueued(1);
      activator.throttle.reject(new Rejection.CannotStart(Activator.HELLO,
          new RevisionStartFailure("ErrImagePull", "registry.corp:5000 at 10.0.0.7 refused",
              "now")));
      assertThat(response(caller))
          .isEqualTo(
              "503 revision default/hello-00001 cannot start: ErrImagePull\n");
    }
  }

  @Test
  @DisplayName("gives up the place of a caller that is gone while it waits")
  void givesUpThePlaceOfACallerThatIsGone() throws Exception {
    var caller = activator.get("/");
    awaitQueued(1);

    caller.close();

    awaitQueued(0);
  }

  @Test
  void givesUpThePlaceOfACallerThatSendsNoMore() throws Exception {
    try (var caller = activator.get("/")) {
      awaitQueued(1);

      caller.endOutput();

      awaitQueued(0);
      assertThat(caller.readToEnd()).isEmpty();
    }
  }

  @Test
  void noticesThatACallerIsGoneWhoseBodyIsNotReadYet() throws Exception {
    for (boolean reset : new boolean[]{false, true}) {
      var caller = activator.connect();
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 1000000000");
      awaitQueued(1);
      // More than the window, so that some of it stays in the kernel; less than the kernel takes, or
      // the end would wait behind it at the caller, where nobody sees it.
      caller.send(new byte[150_000]);

      if (reset) {
        caller.reset();
      } else {
        caller.close();
      }

      awaitQueued(0);
    }
  }

  @Test
  void readsLittleOfABodyWhileItsRequestWaits() throws Exception {
    var caller = activator.connect();
    Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 1000000000");
    var flood = Flood.into(caller);
    awaitQueued(1);

    assertThat(flood.sentAtRest()).isLessThan(32 << 20);

    caller.reset();
    awaitQueued(0);
  }

  @Test
  void readsFewRequestsAheadWhileTheFirstWaits() throws Exception {
    var caller = activator.connect();
    Activator.request(caller, "GET / HTTP/1.1");
    awaitQueued(1);
    var flood = Flood.of(caller, ("GET /" + "x".repeat(5_000) + " HTTP/1.1\r\n"
        + String.join("\r\n", Activator.TO_HELLO) + "\r\n\r\n").getBytes());

    assertThat(flood.sentAtRest()).isLessThan(32 << 20);
    assertThat(activator.arrivals).hasValue(1);

    caller.reset();
    awaitQueued(0);
  }

  @Test
  void holdsLittleOfABodyInTinyChunksBehindARequestThatWaitsAndLosesNothing() throws Exception {
    // given a request that waits, and one behind it with a body of single bytes
    int length = 100_000;
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      awaitQueued(1);
      Activator.request(caller, "POST / HTTP/1.1", "Transfer-Encoding: chunked");
      String chunks = "1\r\nx\r\n".repeat(length) + "0\r\nSum: " + length + "\r\n\r\n";
      Flood.of(caller, chunks.getBytes(), chunks.length());
      eventually(() -> assertThat(activator.held.total()).isGreaterThan(64 << 10));

      // then a window is held, and of the read that filled it what is left
      assertThat(activator.held.total()).isLessThan(128 << 10);

      BlockingQueue<Integer> lengths = new LinkedBlockingQueue<>();
      pod(pod -> {
        while (true) {
          lengths.add(pod.readBody(pod.readHead()).length());
          pod.send(OK);
        }
      });
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(next(lengths)).isZero();
      assertThat(next(lengths)).isEqualTo(length);
    }
  }

  @Test
  @DisplayName("times out a request that waits longer than the overall timeout")
  void timesOutARequestThatWaitsTooLong() throws Exception {
    activator.timeouts(Duration.ofMillis(50), Duration.ZERO, Duration.ZERO);
    try (var caller = activator.get("/")) {
      var head = caller.readHead();

      assertThat(head.start()).isEqualTo("HTTP/1.1 504 Gateway Timeout");
      assertThat(head.header("Content-Type")).isEqualTo("text/plain; charset=utf-8");
      assertThat(caller.readBody(head)).isEqualTo("activator request timeout");
      awaitQueued(0);

      // And the connection goes on.
      activator.timeouts(Duration.ofMinutes(5), Duration.ZERO, Duration.ZERO);
      pod(OK);
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  @Test
  void goesOnAfterARefusedRequestWhoseBodyIsShort() throws Exception {
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 100000");
      awaitQueued(1);
      activator.throttle.reject(new Rejection.QueueFull(Activator.HELLO, 3));
      assertThat(response(caller)).startsWith("503 ");

      caller.send(new byte[100_000]);
      pod(OK);
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  @Test
  void endsTheConnectionAfterARefusedRequestWhoseBodyIsLong() throws Exception {
    try (RawPeer caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 1000000000");
      awaitQueued(1);
      activator.throttle.reject(new Rejection.QueueFull(Activator.HELLO, 3));
      assertThat(response(caller)).startsWith("503 ");

      Flood.into(caller);
      caller.awaitEnd();
    }
  }
}
