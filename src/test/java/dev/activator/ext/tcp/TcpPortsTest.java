package dev.activator.ext.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.config.CidrRanges;
import dev.activator.config.RevisionAnnotations;
import dev.activator.loop.LoopGroup;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.WireTest;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.FreePort;
import dev.activator.testing.RawPeer;
import dev.activator.testing.VirtualLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which ports of the activator are open, as statuses of ScaledServices change. */
class TcpPortsTest extends WireTest {
  private static final RevisionId DB = new RevisionId("shop", "db");

  private final VirtualLoop loop = new VirtualLoop();
  private final Queue<String> taken = new ConcurrentLinkedQueue<>();
  private TcpPorts ports;

  @BeforeEach
  void ports() {
    ports = new TcpPorts(activator.server, "127.0.0.1", loop, activator.revisions.live,
        new ProxyHeaders(CidrRanges.of(List.of()), Duration.ofSeconds(100)),
        (port, isTaken) -> taken.add(port + " " + isTaken));
  }

  private LiveRevision says(int number, PortProtocol protocol) {
    return activator.revisions.put(new Revision(DB, "u", protocol, 0, RequestTimeouts.DEFAULT, true,
        ReadinessProbeSpec.CONNECT, Map.of(), number == 0
            ? Map.of()
            : Map.of(RevisionAnnotations.TCP_PORT, Integer.toString(number)),
        null));
  }

  private void changes(int number) {
    ports.onRevision(says(number, PortProtocol.TCP));
  }

  private void opens(int port) throws IOException {
    var pod = idlePod(caller -> caller.send("ready"));
    activator.throttle.grow(pod.destination(), 1);
    eventually(() -> {
      loop.advance(Duration.ofMillis(500));
      try (var client = RawPeer.connect(port)) {
        assertThat(client.read(5)).isEqualTo("ready");
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    });
  }

  private void closes(int port) {
    eventually(() -> {
      loop.advance(Duration.ofMillis(500));
      assertThatThrownBy(() -> RawPeer.connect(port)).isInstanceOf(IOException.class);
    });
  }

  @Test
  void opensThePortThatTheStatusSays_onceTheActivatorServes() throws Exception {
    int port = FreePort.next();
    changes(port);
    loop.advance(Duration.ofSeconds(1));
    assertThatThrownBy(() -> RawPeer.connect(port)).isInstanceOf(IOException.class);

    ports.start();
    opens(port);

    int other = FreePort.next();
    changes(other);
    opens(other);
    closes(port);

    changes(0);
    closes(other);
  }

  @Test
  void closesThePortOfADeletedWorkload() throws Exception {
    int port = FreePort.next();
    ports.start();
    changes(port);
    opens(port);

    activator.revisions.remove(DB);
    closes(port);
  }

  @Test
  void triesAgain_whileAnotherProgramHasThePort() throws Exception {
    int port = FreePort.next();
    try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      ports.start();
      changes(port);
      eventually(() -> {
        loop.advance(Duration.ofMillis(500));
        assertThat(taken).containsExactly(port + " true");
      });
    }
    opens(port);
    eventually(() -> {
      loop.advance(Duration.ofMillis(500));
      assertThat(taken).containsExactly(port + " true", port + " false");
    });
  }

  @Test
  void aFailureOfAFormerPortDoesNotDelayTheNextOne() throws Exception {
    int port = FreePort.next();
    int next = FreePort.next();
    try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      ports.start();
      changes(port);
      loop.run();
      changes(next);

      eventually(() -> {
        loop.run();
        try (var _ = RawPeer.connect(next)) {
          assertThat(taken).containsExactly(next + " false");
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      });
    }
  }

  @Test
  void anAnnotationOfARevisionForRequestsOpensNoPort() {
    int port = FreePort.next();
    ports.start();
    ports.onRevision(says(port, PortProtocol.HTTP1));
    loop.advance(Duration.ofSeconds(1));
    assertThatThrownBy(() -> RawPeer.connect(port)).isInstanceOf(IOException.class);
  }

  @Test
  void aPortThatOpensWhileTheActivatorBeginsToListenDoesNotHoldItUp() throws Exception {
    var acceptors = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try {
      var server = new ProxyServer(acceptors, acceptors, new LoopGroup(acceptors),
          Duration.ofSeconds(60), _ -> null);
      var busy = new CountDownLatch(1);
      var _ = acceptors.submit(() -> busy.await(30, TimeUnit.SECONDS));
      var opens = server.listenFor("127.0.0.1", 0, (_, _) -> {
      });
      var begins = new FutureTask<>(() -> server.listen("127.0.0.1", 0));
      var start = Thread.ofPlatform().daemon().start(begins);
      eventually(() -> assertThat(start.getState()).isEqualTo(Thread.State.WAITING));

      busy.countDown();

      assertThat(begins.get(30, TimeUnit.SECONDS)).isPositive();
      assertThat(opens.get(30, TimeUnit.SECONDS).isActive()).isTrue();
      server.close();
    } finally {
      acceptors.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }
}
