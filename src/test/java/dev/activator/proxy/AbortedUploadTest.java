package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawPeer;
import dev.activator.testing.TestRevisions;
import dev.activator.tls.PodTls;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Requests that end in the middle of their body. Servers that take the end of the connection for the
 * end of the body must not see one: to those, half of a file would be a whole one.
 */
class AbortedUploadTest extends SecuredTest {
  private final BlockingQueue<String> ends = new LinkedBlockingQueue<>();

  private void podReads(boolean overTls) throws IOException {
    if (overTls) {
      secured(this::read);
    } else {
      activator.close();
      activator = new Activator(settings(), new PodTls(TestRevisions.unused()), io());
      pod(this::read);
    }
  }

  private void read(RawPeer caller) throws IOException {
    seen.add(caller.readHead());
    try {
      caller.readToEnd();
      ends.add("in order");
    } catch (SocketException | EOFException e) {
      ends.add("broken off");
    }
  }

  @ParameterizedTest
  @CsvSource({"Content-Length: 11, hello, false", "Content-Length: 11, hello, true",
      "Transfer-Encoding: chunked, '5\r\nhello\r\n', false",
      "Transfer-Encoding: chunked, '5\r\nhello\r\n', true"})
  void isBrokenOffAtThePod_whenTheCallerIsGone(String framing, String part, boolean overTls)
      throws Exception {
    podReads(overTls);
    try (var caller = RawPeer.connect(activator.port)) {
      Activator.request(caller, "POST / HTTP/1.1", framing);
      caller.send(part);
      next(seen);
    }
    assertThat(next(ends)).isEqualTo("broken off");
    awaitIdle();
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void endsInOrderAtThePod_whenItWasSentWhole(boolean overTls) throws Exception {
    podReads(overTls);
    try (var caller = RawPeer.connect(activator.port)) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 5");
      caller.send("hello");
      next(seen);
    }
    assertThat(next(ends)).isEqualTo("in order");
    awaitIdle();
  }
}
