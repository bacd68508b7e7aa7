package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
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
  @DisplayName("TO-05 TO-10 TO-15 TO-29 answers 504 where nothing was written by the overall, start or idle timeout")
  void answersForAPodThatDoesNot() throws Exception {
    silentPod();
    for (var each : new Duration[][]{{SHORT, NONE, NONE}, {LONG, SHORT, NONE},
        {LONG, NONE, SHORT}}) {
      activator.timeouts(each[0], each[1], each[2]);
      try (var caller = activator.get("/")) {
        assertThat(response(caller)).isEqualTo("504 activator request timeout");
      }
    }
  }

  @Test
  @DisplayName("TO-06 TO-19 breaks off a response that has begun at the overall or idle timeout")
  void breaksOffAResponseThatTakesTooLong() throws Exception {
    stuckPod("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nfoo\r\n");
    for (var each : new Duration[][]{{Duration.ofMillis(300), NONE, NONE},
        {LONG, NONE, Duration.ofMillis(300)}}) {
      activator.timeouts(each[0], each[1], each[2]);
      try (var caller = activator.get("/")) {
        assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 200 OK");
        assertThat(caller.readToEnd()).isEqualTo("3\r\nfoo\r\n");
      }
    }
  }

  @Test
  @DisplayName("TO-34 times out an upload that is answered with nothing for the idle timeout")
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
  @DisplayName("TO-01 TO-13 leaves a response alone that has begun before the start timeout")
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
    assertThat(pod.connections()).isEqualTo(1);
  }

  @Test
  @DisplayName("TO-09 TO-14 TO-28 serves quick responses whatever the timeouts")
  void servesQuickResponsesWhateverTheTimeouts() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    activator.timeouts(Duration.ofMinutes(1), Duration.ofSeconds(30), Duration.ofSeconds(30));
    try (var caller = activator.connect()) {
      for (int i = 0; i < 20; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(response(caller)).isEqualTo("200 hi");
      }
    }
  }
}
