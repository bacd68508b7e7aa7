package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestRevisions;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.proxy.AbusiveConnectionCounter.Reason;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.tls.PodTls;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Heads that have begun and not ended hold memory, of which there is a part for them. */
class PartialHeadsTest extends WireTest {
  private static final int BOUND_BYTES = 4 << 20;
  private static final int PART_BYTES = BOUND_BYTES / 4;
  private static final int HEAD_BYTES = 100_000;
  private static final int CALLERS = 30;
  private static final int ENHANCE_YOUR_CALM = 11;
  private static final String LARGE = "Large: " + "x".repeat(HEAD_BYTES);

  @Override
  @BeforeEach
  void start() throws IOException {
    // On one loop it is certain which heads are refused.
    activator = new Activator(Activator.Settings.DEFAULT.holding(BOUND_BYTES),
        new PodTls(TestRevisions.unused()), io(),
        TcpKeepAlive.TO_PODS, 1);
  }

  /** Returns when the caller's head is counted, or was refused, with what others' it cost. */
  private void awaitCounted(long before, int callers) {
    eventually(() -> assertThat(activator.held.total() >= before + HEAD_BYTES
        || refused() > 0 && activator.held.total() > PART_BYTES - 2 * HEAD_BYTES).as(
            "caller " + callers)
        .isTrue());
  }

  private long refused() {
    return activator.server.endedConnections().count(Reason.PARTIAL_HEADS);
  }

  private void serves() throws IOException {
    try (var other = activator.get("/", "k-network-probe: activator")) {
      assertThat(response(other)).isEqualTo("200 activator");
    }
  }

  @Test
  void refusesTheOldestOfHttp1WhenTheyHoldMoreThanTheirPartAndServesOthers() throws Exception {
    var callers = new ArrayList<RawPeer>();
    for (int i = 0; i < CALLERS; i++) {
      long before = activator.held.total();
      callers.add(activator.connect().send("GET / HTTP/1.1\r\nHost: x\r\n" + LARGE + "\r\n"));
      awaitCounted(before, i);
      // It is counted before the oldest is refused.
      eventually(() -> assertThat(activator.held.total()).isLessThanOrEqualTo(PART_BYTES));
    }
    serves();
    long refused = refused();
    assertThat(refused).isBetween((long) CALLERS - PART_BYTES / HEAD_BYTES, CALLERS - 5L);

    // then those that began first were told
    for (int i = 0; i < refused; i++) {
      var head = callers.get(i).readHead();
      assertThat(head.start()).startsWith("HTTP/1.1 431 ");
      assertThat(head.header("K-Activator-Reason")).isEqualTo("head-too-large");
    }
    // and the others can go on
    for (var caller : callers.subList((int) refused, CALLERS)) {
      caller.send("\r\n");
      assertThat(response(caller)).startsWith("404 ");
    }
    eventually(() -> assertThat(activator.held.total()).isZero());
    for (var caller : callers) {
      caller.close();
    }
  }

  @Test
  void endsTheOldestConnectionsOfHttp2WhenTheyHoldMoreThanTheirPart() throws Exception {
    var callers = new ArrayList<RawHttp2>();
    for (int i = 0; i < CALLERS; i++) {
      long before = activator.held.total();
      var caller = RawHttp2.caller(activator.connect());
      callers.add(caller);
      caller.frame(RawHttp2.HEADERS, 0, 1, new byte[10_000]);
      for (int j = 0; j < 9; j++) {
        caller.frame(RawHttp2.CONTINUATION, 0, 1, new byte[10_000]);
      }
      awaitCounted(before, i);
      // It is counted before the oldest is refused.
      eventually(() -> assertThat(activator.held.total()).isLessThanOrEqualTo(PART_BYTES));
    }
    serves();
    assertThat(callers.getFirst().awaitEnd()).isEqualTo(ENHANCE_YOUR_CALM);
    for (var caller : callers) {
      caller.close();
    }
    eventually(() -> assertThat(activator.held.total()).isZero());
  }

  @Test
  void keepsSmallHeadsWhileLargeOnesHoldTooMuch() throws Exception {
    try (var small = activator.connect().send("GET / HTTP/1.1\r\nHost: x\r\n")) {
      eventually(() -> assertThat(activator.held.total()).isPositive());
      var callers = new ArrayList<RawPeer>();
      for (int i = 0; i < 15; i++) {
        long before = activator.held.total();
        callers.add(activator.connect().send("GET / HTTP/1.1\r\nHost: x\r\n" + LARGE + "\r\n"));
        awaitCounted(before, i);
      }
      assertThat(refused()).isPositive();
      small.send("\r\n");
      assertThat(response(small)).startsWith("404 ");
      for (var caller : callers) {
        caller.close();
      }
    }
  }

  @Test
  void refusesAPipelinedHeadAfterTheResponseBeforeIt() throws Exception {
    var goOn = new CompletableFuture<Void>();
    pod(pod -> {
      pod.readHead();
      goOn.join();
      pod.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    try (var first = activator.get("/")) {
      eventually(() -> assertThat(activator.throttle.inFlight()).isEqualTo(1));
      first.send("GET / HTTP/1.1\r\nHost: x\r\n" + LARGE + "\r\n");
      eventually(() -> assertThat(activator.held.total()).isGreaterThan(HEAD_BYTES));
      var callers = new ArrayList<RawPeer>();
      for (int i = 0; refused() == 0; i++) {
        long before = activator.held.total();
        callers.add(activator.connect().send("GET / HTTP/1.1\r\nHost: x\r\n" + LARGE + "\r\n"));
        awaitCounted(before, i);
      }
      goOn.complete(null);
      assertThat(response(first)).isEqualTo("200 ok");
      assertThat(response(first)).startsWith("431 ");
      first.awaitEnd();
      for (var caller : callers) {
        caller.close();
      }
    }
  }

  /** Listens on one more port, and tells which channel a connection to it is. */
  private Channel listen(CompletableFuture<Channel> accepted) throws InterruptedException {
    var loop = activator.loops.all().getFirst().eventLoop();
    return new ServerBootstrap().group(loop).channel(NettyTransport.of(loop).server())
        .childHandler(new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel connection) {
            activator.server.accept(connection);
            accepted.complete(connection);
          }
        }).bind("127.0.0.1", 0).sync().channel();
  }

  @Test
  void keepsNothingOfALargeHeadOnAConnectionThatIsIdle() throws Exception {
    // given Netty's decoder, whose buffer for lines grows with the longest and never shrinks
    var accepted = new CompletableFuture<Channel>();
    var listening = listen(accepted);
    int port = ((InetSocketAddress) listening.localAddress()).getPort();
    try (var caller = RawPeer.connect(port)) {
      caller.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(response(caller)).startsWith("404 ");
      var pipeline = accepted.join().pipeline();
      var decoder = pipeline.get(Http1RequestDecoder.class);

      // when a large head has come, with a body, and the caller goes on
      caller.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n" + LARGE + "\r\n\r\nok");
      assertThat(response(caller)).startsWith("404 ");

      // then its decoder is another one, and the connection serves as before
      eventually(() -> assertThat(pipeline.get(Http1RequestDecoder.class)).isNotSameAs(decoder));
      caller.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(response(caller)).startsWith("404 ");
    }
    listening.close().sync();
  }
}
