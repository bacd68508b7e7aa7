package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawPeer;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Timeouts over real sockets; when each is due is tested with its policy. */
class TimeoutTest extends WireTest {
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration NONE = Duration.ZERO;

  private void silentPod() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.awaitEnd();
    });
  }

  /** A pod that begins its response and never ends it. */
  private void stuckPod(String head) throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send(head);
      caller.awaitEnd();
    });
  }

  @Test
  @DisplayName("answers 504 where nothing was written by the overall, start or idle timeout")
  void answers504_whenThePodSendsNoResponseInTime() throws Exception {
    silentPod();
    for (var each : new Duration[][]{{SHORT, NONE, NONE}, {LONG, SHORT, NONE},
        {LONG, NONE, SHORT}}) {
      activator.timeouts(each[0], each[1], each[2]);
      try (var caller = activator.get("/")) {
        assertThat(response(caller)).isEqualTo("504 activator request timeout");
      }
    }
    assertThat(activator.throttle.abandoned).hasValue(3);
  }

  @Test
  @DisplayName("breaks off a response that has begun at the overall or idle timeout, and adds nothing to it")
  void breaksOffAResponseThatTakesTooLong() throws Exception {
    stuckPod("HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nfoo\r\n");
    // Long enough for the head on a busy machine.
    var some = Duration.ofSeconds(5);
    var callers = new ArrayList<RawPeer>();
    for (var each : new Duration[][]{{some, NONE, NONE}, {LONG, NONE, some}, {some, NONE, some}}) {
      activator.timeouts(each[0], each[1], each[2]);
      callers.add(activator.get("/"));
      eventually(() -> assertThat(activator.arrivals).hasValue(callers.size()));
    }
    for (var caller : callers) {
      try (caller) {
        assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 202 Accepted");
        assertThat(caller.readChunk()).isEqualTo("foo");
        assertThat(caller.readToEnd()).isEmpty();
      }
    }
  }

  @Test
  @DisplayName("times out an upload that is answered with nothing for the idle timeout")
  void timesOutAnUploadThatIsAnsweredWithNothing() throws Exception {
    silentPod();
    activator.timeouts(LONG, NONE, SHORT);
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 1000000000");
      Flood.into(caller);
      assertThat(caller.readHead().start()).startsWith("HTTP/1.1 504 ");
    }
  }

  @Test
  @DisplayName("leaves a response alone that has begun before the start timeout")
  void leavesAResponseAloneThatHasBegunInTime() throws Exception {
    var pod = pod(caller -> {
      while (true) {
        caller.readHead();
        caller.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nfoo");
        caller.readLine();
      }
    });
    activator.timeouts(LONG, Duration.ofSeconds(5), NONE);
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 100");
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 200 OK");
      assertThat(caller.read(3)).isEqualTo("foo");
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(1));
  }

  @Test
  @DisplayName("serves quick responses whatever the timeouts")
  void servesQuickResponsesWhateverTheTimeouts() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    var some = Duration.ofSeconds(30);
    for (var each : new Duration[][]{{LONG, some, NONE}, {LONG, NONE, some},
        {Duration.ofMinutes(1), some, some}}) {
      activator.timeouts(each[0], each[1], each[2]);
      try (var caller = activator.connect()) {
        for (int i = 0; i < 10; i++) {
          Activator.request(caller, "GET / HTTP/1.1");
          assertThat(response(caller)).isEqualTo("200 hi");
        }
      }
    }
  }

  @Test
  @DisplayName("answers once, whatever the pod does after the timeout")
  void answersOnceWhateverThePodDoesAfterTheTimeout() throws Exception {
    pod(caller -> {
      String path = caller.readHead().start().split(" ")[1];
      if (path.equals("/quick")) {
        caller.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
      } else {
        caller.awaitEnd();
        caller.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate");
        caller.reset();
      }
    });
    for (var each : new Duration[][]{{SHORT, NONE, NONE}, {LONG, SHORT, NONE},
        {LONG, NONE, SHORT}, {SHORT, SHORT, SHORT}}) {
      try (var caller = activator.connect()) {
        activator.timeouts(each[0], each[1], each[2]);
        Activator.request(caller, "GET /slow HTTP/1.1");
        assertThat(response(caller)).isEqualTo("504 activator request timeout");

        activator.timeouts(LONG, NONE, NONE);
        Activator.request(caller, "GET /quick HTTP/1.1");
        assertThat(response(caller)).isEqualTo("200 hi");
      }
    }
  }

  @Test
  @DisplayName("passes on that a pod broke off in time")
  void passesOnThatAPodBrokeOffInTime() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    });
    for (var each : new Duration[][]{{LONG, LONG, NONE}, {LONG, NONE, LONG}, {LONG, NONE, NONE},
        {LONG, LONG, LONG}}) {
      activator.timeouts(each[0], each[1], each[2]);
      try (var caller = activator.get("/")) {
        assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 200 OK");
        assertThat(caller.readToEnd()).isEqualTo("half");
      }
    }
  }
}
