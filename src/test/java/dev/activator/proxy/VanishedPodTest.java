package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.activator.loop.TcpKeepAlive;
import dev.activator.testing.KernelConnections;
import dev.activator.testing.NetworkNamespace;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.testing.ScriptedPod.Script;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Pods on a node that vanishes: no packet comes from it any more, not even one that ends a connection.
 * Everything is five times as quick as outside of tests.
 */
class VanishedPodTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final String GONE = "502 the pod stopped responding\n";

  /** What both transports can notice. */
  @Execution(ExecutionMode.CONCURRENT) // They wait most of the time, each with a node of its own.
  abstract static class OnAnyTransport extends WireTest {
    final BlockingQueue<RawPeer> connections = new LinkedBlockingQueue<>();
    @RegisterExtension
    final NetworkNamespace node = new NetworkNamespace();

    @Override
    TcpKeepAlive keepAlive() {
      return new TcpKeepAlive(Duration.ofSeconds(1), Duration.ofSeconds(1), 3);
    }

    /** A pod on the node, and permits for it. */
    ScriptedPod podOnTheNode(Script script) throws IOException {
      var pod = closing(new ScriptedPod(node.listen(), connection -> {
        connections.add(connection);
        script.serve(connection);
      }));
      activator.throttle.grow(pod.destination(), 100);
      return pod;
    }

    @Test
    void breaksOffAnUploadInItsMiddle() throws Exception {
      var ends = new LinkedBlockingQueue<String>();
      podOnTheNode(caller -> {
        seen.add(caller.readHead());
        try {
          ends.add("in order, after " + caller.readToEnd());
        } catch (SocketException e) {
          ends.add("broken off");
        }
      });
      try (var caller = activator.connect()) {
        Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 11");
        caller.send("hello");
        seen();
        node.vanish();
        assertThat(next(ends)).isEqualTo("broken off");
      }
    }

    @Test
    void endsARequestThatThePodHasReceived() throws Exception {
      podOnTheNode(caller -> {
        seen.add(caller.readHead());
        caller.awaitEnd();
      });
      try (var caller = activator.get("/")) {
        seen();
        node.vanish();
        assertEndsAsGone(caller);
      }
    }

    @Test
    void endsStreamsAndOpensNoMoreOnTheirConnection() throws Exception {
      // given a pod that has answered one request, and has another
      podOnTheNode(caller -> {
        var http2 = RawHttp2.pod(caller);
        http2.headers(http2.read(RawHttp2.HEADERS).stream(), true, ":status", "204");
        http2.read(RawHttp2.HEADERS);
        seen.add(new RawPeer.Head("", List.of()));
        caller.awaitEnd();
      });
      try (var caller = RawHttp2.caller(activator.connect())) {
        caller.headers(1, true, head("GET"));
        assertThat(caller.response(1)).isEqualTo("204 ");
        caller.headers(3, true, head("POST"));
        seen();

        // when it vanishes, and gets one more
        node.vanish();
        caller.headers(5, true, head("POST"));

        // then both end
        var head = caller.read(RawHttp2.HEADERS);
        assertThat(head.field(":status")).isEqualTo("502");
        assertThat(head.field("k-activator-reason")).isEqualTo("pod-unresponsive");
        assertThat(caller.read(RawHttp2.HEADERS).field(":status")).isEqualTo("502");
      }
    }
  }

  /** As in clusters: the kernel says what was acknowledged. */
  @Nested
  class OnNativeTransport extends OnAnyTransport {
    @BeforeEach
    void needsTheNativeTransport() {
      assumeTrue(Epoll.isAvailable(), "the kernel cannot be asked here");
    }

    @Test
    void endsAWebSocket() throws Exception {
      podOnTheNode(caller -> {
        caller.readHead();
        caller.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n"
            + "Upgrade: websocket\r\n\r\nwelcome!");
        caller.awaitEnd();
      });
      try (var caller = activator.get("/", "Connection: Upgrade", "Upgrade: websocket")) {
        caller.readHead();
        assertThat(caller.read(8)).isEqualTo("welcome!");
        node.vanish();
        caller.awaitEnd();
      }
    }

    @Test
    void closesAnIdleConnectionWithoutARequest() throws Exception {
      var pod = podOnTheNode(caller -> {
        caller.readHead();
        caller.send(OK);
        caller.awaitEnd();
      });
      try (var caller = activator.get("/")) {
        assertThat(response(caller)).isEqualTo("200 ok");
        int ours = next(connections).socket().getPort();
        // The kernel's table may change while it is read.
        eventually(() -> assertThat(
            KernelConnections.isEstablished(ours, pod.destination().port())).isTrue());
        node.vanish();
        eventually(() -> assertThat(
            KernelConnections.isEstablished(ours, pod.destination().port())).isFalse());
      }
    }

    @Test
    void endsARequestWhoseBodyIsNotAcknowledged() throws Exception {
      podOnTheNode(caller -> {
        seen.add(caller.readHead());
        caller.awaitEnd();
      });
      try (var caller = activator.connect()) {
        Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 100");
        caller.send("begun");
        seen();
        node.vanish();
        caller.send("more");
        assertEndsAsGone(caller);
      }
    }

    @Test
    void sendsARequestThatMayBeSentTwiceElsewhere() throws Exception {
      // given a kept connection to a pod, and another pod
      podOnTheNode(caller -> {
        caller.readHead();
        caller.send(OK);
        caller.awaitEnd();
      });
      var other = idlePod(caller -> {
        caller.readHead();
        caller.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother");
      });
      try (var caller = activator.get("/")) {
        assertThat(response(caller)).isEqualTo("200 ok");
        // Not before: on a busy machine the first request may be repeated, too.
        activator.throttle.retriesGoTo(other.destination());

        // when the first vanishes, and its connection is used before that is known
        node.vanish();
        Activator.request(caller, "GET / HTTP/1.1");

        // then the other pod answers
        assertThat(response(caller)).isEqualTo("200 other");
      }
    }

    @Test
    void leavesAPodAloneThatIsAliveButDoesNotRead() throws Exception {
      // given a pod that reads only a head, and has been sent more than its kernel takes
      var read = new CountDownLatch(1);
      var alive = pod(caller -> {
        caller.readHead();
        seen.add(new RawPeer.Head("alive", List.of()));
        await(read);
        caller.read(4 << 20);
        caller.send(OK);
      });
      try (var upload = activator.connect()) {
        Activator.request(upload, "POST / HTTP/1.1", "Content-Length: " + (4 << 20));
        Thread.ofVirtual().start(() -> sendAll(upload));
        assertThat(seen().start()).isEqualTo("alive");

        // when it has not read for longer than it takes to notice a pod that vanished later
        podOnTheNode(caller -> {
          seen.add(caller.readHead());
          caller.awaitEnd();
        });
        try (var other = activator.get("/")) {
          seen();
          node.vanish();
          assertEndsAsGone(other);
        }

        // then it still answers
        read.countDown();
        assertThat(response(upload)).isEqualTo("200 ok");
        eventually(() -> assertThat(alive.connections()).isEqualTo(1));
      }
    }
  }

  /** As on other systems: the kernel sends its probes, and HTTP/2 its own. */
  @Nested
  class OnJavasTransport extends OnAnyTransport {
    @Override
    IoHandlerFactory io() {
      return NioIoHandler.newFactory();
    }
  }

  private static void sendAll(RawPeer caller) {
    try {
      caller.send(new byte[4 << 20]);
    } catch (IOException ended) {
      // The test says so.
    }
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      throw new IOException(stopped);
    }
  }

  private static void assertEndsAsGone(RawPeer caller) throws IOException {
    var head = caller.readHead();
    assertThat(head.start().split(" ")[1] + " " + caller.readBody(head)).isEqualTo(GONE);
    assertThat(head.header("K-Activator-Reason")).isEqualTo("pod-unresponsive");
  }

  private static String[] head(String method) {
    return new String[]{":method", method, ":scheme", "http", ":path", "/", ":authority",
        "hello.example", "knative-serving-namespace", "default", "knative-serving-revision",
        "hello-00001"};
  }
}
