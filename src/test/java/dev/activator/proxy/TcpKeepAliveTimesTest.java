package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.activator.loop.TcpKeepAlive;
import dev.activator.testing.KernelConnections;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.nio.NioIoHandler;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** When the kernel will probe the connections of a request, on both transports. */
class TcpKeepAliveTimesTest {
  abstract static class OnAnyTransport extends WireTest {
    @BeforeEach
    void needsToKnow() {
      assumeTrue(KernelConnections.areKnown(), "the kernel cannot be asked here");
    }

    @Test
    void areFiveSecondsToAPodAndFifteenToACaller() throws Exception {
      var dialedFrom = new LinkedBlockingQueue<Integer>();
      var pod = pod(caller -> {
        dialedFrom.add(caller.socket().getPort());
        caller.awaitEnd();
      });
      try (var caller = activator.get("/")) {
        int ours = next(dialedFrom);
        assertKeptAlive(ours, pod.destination().port(), 5);
        assertKeptAlive(activator.port, caller.localPort(), 15);
      }
    }

    private static void assertKeptAlive(int port, int otherPort, int seconds) {
      eventually(() -> assertThat(KernelConnections.untilKeepAlive(port, otherPort)).isBetween(
          Duration.ofSeconds(seconds).dividedBy(2), Duration.ofSeconds(seconds)));
    }
  }

  @Test
  void endAConnectionToAPodAfterTwentySecondsAndToACallerAfterSixty() {
    assertThat(untilEnd(TcpKeepAlive.TO_PODS)).isEqualTo(Duration.ofSeconds(20));
    assertThat(untilEnd(TcpKeepAlive.FROM_CALLERS)).isEqualTo(Duration.ofSeconds(60));
  }

  private static Duration untilEnd(TcpKeepAlive times) {
    return times.idle().plus(times.interval().multipliedBy(times.probes()));
  }

  @Nested
  class OnNativeTransport extends OnAnyTransport {}

  @Nested
  class OnJavasTransport extends OnAnyTransport {
    @Override
    IoHandlerFactory io() {
      return NioIoHandler.newFactory();
    }
  }
}
