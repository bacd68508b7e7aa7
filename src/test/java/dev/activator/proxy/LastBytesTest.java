package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.FreePort;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The end of an HTTP/1 connection or of a tunnel that the activator closes. A socket that is closed answers what it
 * gets with a reset, and what the other side has not read yet is lost.
 */
class LastBytesTest extends WireTest {
  private static final int BYTES = 200_000;
  private static final String BODY = "x".repeat(BYTES);

  /** The activator waits half a second for the caller, and here ten. */
  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  /** The response is complete, and most of it is in the kernel. */
  private void awaitWritten() {
    awaitIdle();
    eventually(() -> assertThat(activator.unread.total()).isZero());
  }

  @Test
  void sendsTheLastResponse_whenTheCallerHasSentMoreRequests() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: " + BYTES + "\r\n\r\n" + BODY);
    try (var caller = RawPeer.connectWithSmallBuffer(activator.port)) {
      activator.server.announceDrain();
      Awaitility.await().atMost(120, TimeUnit.SECONDS).until(() -> {
        Activator.request(caller, "GET / HTTP/1.1");
        var head = caller.readHead();
        boolean last = "close".equals(head.header("Connection"));
        if (!last) {
          caller.readBody(head);
        }
        return last;
      });
      awaitWritten();

      Activator.request(caller, "GET / HTTP/1.1");

      assertThat(caller.readToEnd()).isEqualTo(BODY);
    }
  }

  @Test
  void sendsTheLastBytesOfATunnel_whenTheCallerSendsMore() throws Exception {
    var sent = new CountDownLatch(1);
    pod(pod -> {
      pod.readHead();
      pod.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
      pod.send(BODY);
      sent.countDown();
    });
    try (var caller = RawPeer.connectWithSmallBuffer(activator.port)) {
      Activator.request(caller, "GET / HTTP/1.1", "Connection: Upgrade", "Upgrade: echo");
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 101 Switching Protocols");
      sent.await();
      eventually(() -> assertThat(activator.unread.total()).isZero());

      caller.send("more");

      assertThat(caller.readToEnd()).isEqualTo(BODY);
    }
  }

  /** A caller that reads nothing ends its side of a tunnel after this, while the pod sends more than is read. */
  private void endsTunnel(int bytes, boolean podSends) throws Exception {
    var mayRead = new CountDownLatch(1);
    var received = new CompletableFuture<Long>();
    var server = new ServerSocket();
    server.setReceiveBufferSize(4 << 10);
    server.bind(new InetSocketAddress("127.0.0.1", FreePort.next()));
    var pod = closing(new ScriptedPod(server, peer -> {
      peer.readHead();
      peer.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
      if (podSends) {
        Flood.of(peer, new byte[1_000]);
      }
      try {
        mayRead.await();
        received.complete(peer.drain(Long.MAX_VALUE));
      } catch (InterruptedException | IOException e) {
        received.completeExceptionally(e);
      }
    }));
    activator.throttle.grow(pod.destination(), 1);
    try (var caller = activator.get("/", "Connection: Upgrade", "Upgrade: echo")) {
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 101 Switching Protocols");
      if (podSends) {
        eventually(() -> assertThat(activator.unread.total()).isPositive());
      }
      caller.send(new byte[bytes]);
      caller.endOutput();

      mayRead.countDown();
      assertThat(received.get(120, TimeUnit.SECONDS)).isEqualTo(bytes);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void sendsTheLastBytesOfTheCallerToThePod_whenItEndsATunnel(boolean podSends) throws Exception {
    endsTunnel(100_000, podSends);
  }

  @Test
  void sendsTheLastBytesOfTheCallerToThePod_whenThePodDoesNotTakeThem() throws Exception {
    endsTunnel(5_000_000, false);
  }
}
