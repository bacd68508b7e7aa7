package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.NetworkNamespace;
import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Callers whose node vanishes: no packet says so. That the kernel probes their connections is in
 * {@link TcpKeepAliveTimesTest}; here is what holds before it has noticed.
 */
class VanishedCallerTest extends WireTest {
  @RegisterExtension
  final NetworkNamespace node = new NetworkNamespace();

  private RawPeer get() throws IOException {
    var caller = new RawPeer(node.connect(activator.server.listen("0.0.0.0", 0)));
    Activator.request(caller, "GET / HTTP/1.1");
    return caller;
  }

  @Test
  void whileQueuedCostsItsPodOneRequestAndNoPermit() throws Exception {
    // given a queued request whose caller vanishes
    try (var _ = get()) {
      eventually(() -> assertThat(activator.throttle.queued()).isOne());
      node.vanish();

      // when there is a pod, then the request runs, and its permit comes back
      pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      seen();
      awaitIdle();
    }
  }

  @Test
  void whileItsTimeInTheQueueEndsGivesItsPlaceUp() throws Exception {
    // Longer than a busy machine takes to see the request in the queue.
    activator.throttle.queueTimeout = Duration.ofSeconds(5);
    try (var _ = get()) {
      eventually(() -> assertThat(activator.throttle.queued()).isOne());
      node.vanish();

      awaitIdle();
    }
  }

  @Test
  void whileItsResponseIsWrittenKeepsItsPermitForTheTimeoutOfTheRevisionOnly() throws Exception {
    // given a pod that streams for as long as it is read
    activator.timeouts(Duration.ofSeconds(5), Duration.ZERO, Duration.ZERO);
    pod(caller -> {
      seen.add(caller.readHead());
      caller.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      while (true) {
        caller.send("1000\r\n" + "x".repeat(0x1000) + "\r\n");
      }
    });
    try (var caller = get()) {
      caller.readHead();

      // when the caller vanishes in the middle of the response
      node.vanish();

      // then the response is broken off, and nothing is left of it
      awaitIdle();
      assertThat(activator.throttle.inFlight()).isZero();
    }
  }
}
