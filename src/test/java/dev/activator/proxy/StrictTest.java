package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Requests that are refused, sent at once and byte by byte, with one behind them that must not run. */
abstract class StrictTest extends WireTest {
  static final String TO_HELLO = String.join("\r\n", Activator.TO_HELLO) + "\r\n";
  static final String POST = "POST / HTTP/1.1\r\n" + TO_HELLO;
  private static final String BEHIND = "GET /behind HTTP/1.1\r\n" + TO_HELLO + "\r\n";

  /** A caller that is slow to send a large head would otherwise see its connection end. */
  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  /** A pod whose every whole request is seen. */
  ScriptedPod okPod() throws IOException {
    return pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  }

  /** Refused, and the connection ended; returns what the caller is told. */
  String refused(int status, String request) throws Exception {
    okPod();
    try (var caller = activator.connect()) {
      caller.send(request + BEHIND);

      var head = caller.readHead();
      assertThat(head.start()).matches("HTTP/1\\.[01] " + status + " .*");
      assertThat(head.header("Connection")).isEqualTo("close");
      String received = caller.readBody(head);
      assertThat(caller.readToEnd()).isEmpty();
      nothingWholeReachedThePod();
      return received;
    }
  }

  /** The same where it comes byte by byte. */
  void refusedByteByByte(int status, String request) throws Exception {
    okPod();
    try (var caller = activator.connect()) {
      sendByteByByte(caller, request + BEHIND);

      assertThat(caller.readHead().start()).contains(" " + status + " ");
    }
    nothingWholeReachedThePod();
  }

  private static void sendByteByByte(RawPeer caller, String request) {
    try {
      for (byte one : request.getBytes(StandardCharsets.ISO_8859_1)) {
        caller.send(new byte[]{one});
      }
    } catch (IOException refusedBeforeItsEnd) {
      // It need not wait for the rest.
    }
  }

  private void nothingWholeReachedThePod() {
    awaitIdle();
    assertThat(seen).isEmpty();
  }
}
