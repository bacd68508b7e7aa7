package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.FullPod;
import dev.activator.testing.ScriptedPod;
import dev.activator.testing.RawPeer;
import java.net.ConnectException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What happens to a request whose pod cannot be reached: nothing of it was sent. */
class RetryTest extends WireTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  @Test
  void goesToAnotherPodWhateverItsMethodAndItsBodyIsWhole() throws Exception {
    BlockingQueue<String> bodies = new LinkedBlockingQueue<>();
    var pod = idlePod(caller -> {
      while (true) {
        bodies.add(caller.readBody(caller.readHead()));
        caller.send(OK);
      }
    });
    activator.throttle.grow(ScriptedPod.nobody(), 1);
    activator.throttle.retriesGoTo(pod.destination());
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 5");
      caller.send("hello");

      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(next(bodies)).isEqualTo("hello");
      assertThat(activator.throttle.retried()).isOne();
    }
  }

  @Test
  void callsThePodByItsOwnAddress() throws Exception {
    var pod = idlePod(caller -> {
      seen.add(caller.readHead());
      caller.send(OK);
    });
    activator.throttle.grow(ScriptedPod.nobody(), 1);
    activator.throttle.retriesGoTo(pod.destination());
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(seen().header("Host")).isEqualTo(pod.destination().toString());
    }
  }

  @Test
  void waitsForAPodWhereThereIsNone() throws Exception {
    var nobody = ScriptedPod.nobody();
    activator.throttle.grow(nobody, 1);
    activator.throttle.keepPermits();
    try (var caller = activator.get("/")) {
      eventually(() -> assertThat(activator.throttle.retried()).isOne());
      assertThat(activator.throttle.queued()).isOne();
      assertThat(activator.throttle.inFlight()).isZero();

      pod(OK);

      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  @Test
  void needsNoRetryBudget() throws Exception {
    var pod = pod(OK);
    activator.throttle.grow(ScriptedPod.nobody(), 1);
    activator.throttle.retriesGoTo(pod.destination());
    activator.throttle.allowNoRetries();
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  @Test
  void failsWhenSixteenMoreConnectionsAreRefused() throws Exception {
    activator.throttle.grow(ScriptedPod.nobody(), 1);
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("502 connection refused\n");
      assertThat(activator.throttle.retried()).isEqualTo(16);
    }
  }

  @Test
  void givesThePlaceUpWhenTheCallerIsGone() throws Exception {
    activator.throttle.grow(ScriptedPod.nobody(), 1);
    activator.throttle.keepPermits();
    var caller = activator.get("/");
    eventually(() -> assertThat(activator.throttle.queued()).isOne());

    caller.close();

    awaitIdle();
  }

  @Test
  @DisplayName("what fails at its pod fails so for its caller, and gives its permit back")
  void isNotSentAgainOnceThePodMayHaveGotSomething() throws Exception {
    pod(caller -> caller.readHead());
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).startsWith("502 ");
    }
    assertThat(activator.throttle.retried()).isZero();
    assertThat(activator.throttle.broken).hasValue(1);
    eventually(() -> assertThat(activator.throttle.inFlight()).isZero());
  }

  @Test
  void goesToAnotherPodWhenItsOwnHasGoneSinceTheLastRequest() throws Exception {
    // given a pod with a kept connection
    var gone = idlePod(caller -> {
      caller.readHead();
      caller.send(OK);
      caller.readHead();
    });
    activator.throttle.grow(gone.destination(), 1);
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");

      // when it ends, and takes no other connection
      var pod = idlePod(again -> {
        again.readHead();
        again.send(OK);
      });
      activator.throttle.retriesGoTo(pod.destination());
      gone.close();
      // Its listener may end a moment later.
      eventually(() -> assertThatThrownBy(() -> RawPeer.connect(gone.destination().port()))
          .isInstanceOf(ConnectException.class));
      Activator.request(caller, "GET / HTTP/1.1");

      // then another answers
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  @Test
  @DisplayName("goes to another pod when its own says nothing")
  void goesToAnotherPodWhenItsOwnSaysNothing() throws Exception {
    // given a pod that drops new connections, as one does whose node is gone
    try (var full = new FullPod()) {
      var pod = idlePod(caller -> {
        caller.readHead();
        caller.send(OK);
      });
      activator.throttle.grow(full.destination(), 1);
      activator.throttle.retriesGoTo(pod.destination());

      try (var caller = activator.get("/")) {
        assertThat(response(caller)).isEqualTo("200 ok");
        assertThat(activator.throttle.retried()).isOne();
      }
    }
  }
}
