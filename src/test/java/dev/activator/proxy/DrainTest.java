package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.loop.LoopGroup;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.revision.Revision;
import dev.activator.testing.FreePort;
import dev.activator.testing.RawPeer;
import dev.activator.testing.quiescence.Quiescence;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class DrainTest extends WireTest {
  @Test
  void endsIdleConnectionsAtOnceAndOthersAfterTheirResponse() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    var late = idlePod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate");
      caller.awaitEnd();
    });
    try (var idle = activator.connect(); var busy = activator.connect()) {
      Activator.request(idle, "GET / HTTP/1.1");
      assertThat(response(idle)).isEqualTo("200 ok");
      Activator.request(busy, "GET / HTTP/1.1");
      assertThat(response(busy)).isEqualTo("200 ok");
      activator.throttle.stop();
      Activator.request(busy, "GET / HTTP/1.1");
      eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(1));

      var drained = activator.server.drain().toCompletableFuture();

      assertThat(idle.readToEnd()).isEmpty();
      // A program that another test starts holds the closed port until it runs.
      eventually(() -> assertThatThrownBy(() -> activator.connect().close())
          .isInstanceOf(IOException.class));
      assertThat(drained).isNotDone();

      activator.throttle.grow(late.destination(), 1);
      var head = busy.readHead();
      assertThat(head.header("Connection")).isEqualTo("close");
      assertThat(busy.readToEnd()).isEqualTo("late");
      drained.get(120, TimeUnit.SECONDS);
    }
  }

  @Test
  void makesCallersLeaveAndServesThemUntilTheyHave() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    try (var idle = activator.connect(); var early = activator.connect()) {
      Activator.request(idle, "GET / HTTP/1.1");
      assertThat(response(idle)).isEqualTo("200 ok");

      activator.server.announceDrain();

      // As soon as they have heard, on connections that there were as on new ones.
      for (var caller : List.of(early, idle, activator.connect())) {
        Awaitility.await().until(() -> isLast(caller));
        assertThat(caller.readToEnd()).isEmpty();
      }
    }
  }

  /** Whether the response to one more request says that it is the last. */
  private static boolean isLast(RawPeer caller) throws IOException {
    Activator.request(caller, "GET / HTTP/1.1");
    var head = caller.readHead();
    assertThat(caller.readBody(head)).isEqualTo("ok");
    return "close".equals(head.header("Connection"));
  }

  @Test
  void keepsAWebSocketOpen_whenADrainIsAnnounced() throws Exception {
    var pod = pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
          + "Upgrade: websocket\r\n\r\n");
      caller.send(caller.read(8));
      caller.awaitEnd();
    });
    try (var socket = activator.get("/", "Connection: Upgrade", "Upgrade: websocket")) {
      assertThat(socket.readHead().start()).isEqualTo("HTTP/1.1 101 Switching Protocols");

      activator.server.announceDrain();

      socket.send("as usual");
      assertThat(socket.read(8)).isEqualTo("as usual");
    }
    eventually(() -> assertThat(pod.connections()).isOne());
  }

  @Test
  void saysWhereItCannotListen() {
    assertThatThrownBy(() -> activator.server.listen("127.0.0.1", activator.port))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot listen on 127.0.0.1:" + activator.port);
  }

  @Test
  void listensOnMoreThanOnePort() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    int second = activator.server.listen("127.0.0.1", 0);
    try (var caller = RawPeer.connect(second)) {
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  @Test
  void waitsForAConnection_whenItWasAcceptedJustBefore() throws Exception {
    var acceptors = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    var serving = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    var loop = (SingleThreadEventExecutor) serving.next();
    var free = new CountDownLatch(1);
    var early = new AtomicBoolean();
    try {
      var server = Quiescence.watch(new ProxyServer(acceptors, serving, new LoopGroup(serving),
          Duration.ofSeconds(60), of -> Dispatchers.of(of, Revision.of(Activator.HELLO, 0),
              activator.throttle::admit, new FakePod(), activator.held.share())));
      int port = server.listen("127.0.0.1", FreePort.next());
      // given a connection that waits for its handlers
      loop.execute(() -> {
        try {
          free.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      });
      try (var caller = RawPeer.connect(port)) {
        eventually(() -> assertThat(loop.pendingTasks()).isPositive());

        var drained = server.drain().toCompletableFuture()
            .thenRun(() -> early.set(free.getCount() > 0));
        eventually(() -> assertThatThrownBy(() -> RawPeer.connect(port).close())
            .isInstanceOf(IOException.class));
        free.countDown();

        // then it ends as those that are idle, and is waited for
        caller.awaitEnd();
        drained.get(120, TimeUnit.SECONDS);
        assertThat(early).isFalse();
      }
    } finally {
      free.countDown();
      acceptors.shutdownGracefully(0, 5, TimeUnit.SECONDS);
      serving.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }
  }
}
