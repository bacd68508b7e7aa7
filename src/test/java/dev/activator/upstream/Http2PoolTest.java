package dev.activator.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.ScriptedPod;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.network.SimulatedNetwork;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.tls.DialTarget;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.UpstreamPool.Dial;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests that wait for a connection, and what they may do once they have it. */
class Http2PoolTest {
  private static final int WAITING = 250;

  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final LoopGroup loops = new LoopGroup(group);
  private final NettyLoop loop = loops.all().getFirst();
  private final ConnectionPoolsByLoop allPools = new ConnectionPoolsByLoop(loops,
      new IdleLimits(1_000, 100, Duration.ofSeconds(90)), new Random(1),
      new PodTls(TestRevisions.unused()));
  private final LoopConnectionPools pools = allPools.of(loop);

  @AfterEach
  void stop() {
    // Before the loop ends: after that, the end of a connection is not noticed.
    Quiescence.check(allPools);
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private <T> T onLoop(Callable<T> question) throws Exception {
    var result = new CompletableFuture<T>();
    loop.execute(() -> {
      try {
        result.complete(question.call());
      } catch (Exception e) {
        result.completeExceptionally(e);
      }
    });
    return result.get(120, TimeUnit.SECONDS);
  }

  /** Speaks HTTP/2 once the latch is open. */
  private static ScriptedPod pod(CountDownLatch ready, AtomicInteger ended) throws IOException {
    return new ScriptedPod(caller -> {
      try {
        ready.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      var http2 = RawHttp2.pod(caller);
      try {
        while (true) {
          http2.read();
        }
      } catch (IOException e) {
        ended.incrementAndGet();
      }
    });
  }

  @Test
  @Tag("burst")
  void servesWaitingRequestsWithoutRecursion_whenEachEndsAtOnce() throws Exception {
    var ready = new CountDownLatch(1);
    var ended = new AtomicInteger();
    try (var pod = pod(ready, ended)) {
      Set<Integer> depths = new HashSet<>();
      var served = new AtomicInteger();
      onLoop(() -> {
        var pool = pools.to(DialTarget.plain(pod.destination()), PortProtocol.H2C);
        for (int i = 0; i < WAITING; i++) {
          pool.dial(new RecordingListener(connection -> {
            depths.add(Thread.currentThread().getStackTrace().length);
            connection.close();
            served.incrementAndGet();
          }, () -> {
          }));
        }
        return true;
      });

      ready.countDown();

      Awaitility.await().untilAtomic(served, org.hamcrest.Matchers.is(WAITING));
      assertThat(onLoop(() -> List.copyOf(depths))).as("depths of the stack").hasSize(1);
      // The connections stay, also those that were opened for many and used by none.
      Awaitility.await().until(() -> pod.connections() == 3);
      onLoop(() -> true);
      assertThat(ended).hasValue(0);
      onLoop(() -> {
        var last = pools.to(DialTarget.plain(pod.destination()), PortProtocol.H2C)
            .reuse(new RecordingListener());
        assertThat(last).isNotNull();
        last.close();
        return true;
      });
    }
  }

  @Test
  void servesWaitingRequestsOfEachConnection_whenOneIsFull() throws Exception {
    var ready = new CountDownLatch(1);
    try (var pod = new ScriptedPod(caller -> {
      try {
        ready.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      RawHttp2.pod(caller, RawHttp2.MAX_CONCURRENT_STREAMS, 2);
      caller.awaitEnd();
    })) {
      var connected = new AtomicInteger();
      onLoop(() -> {
        for (int i = 0; i < 5; i++) {
          pools.to(DialTarget.plain(pod.destination()), PortProtocol.H2C).dial(
              new RecordingListener(_ -> connected.incrementAndGet(), () -> {
              }));
        }
        return true;
      });

      ready.countDown();

      Awaitility.await().untilAtomic(connected, org.hamcrest.Matchers.is(5));
      assertThat(pod.connections()).isEqualTo(3);
    }
  }

  @Test
  void waitsOnOneConnection_whenThePodAllowsNoStreamsYet() throws Exception {
    var allows = new CountDownLatch(1);
    var settingsRead = new CountDownLatch(1);
    try (var pod = new ScriptedPod(caller -> {
      var http2 = RawHttp2.pod(caller, RawHttp2.MAX_CONCURRENT_STREAMS, 0);
      while (http2.readAny().flags() != RawHttp2.ACK) {
        // Its acknowledgement says that the pool knows the limit.
      }
      settingsRead.countDown();
      try {
        allows.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      http2.settings(RawHttp2.MAX_CONCURRENT_STREAMS, 1);
      caller.awaitEnd();
    })) {
      var connected = new AtomicInteger();
      onLoop(() -> pools.to(DialTarget.plain(pod.destination()), PortProtocol.H2C).dial(
          new RecordingListener(_ -> connected.incrementAndGet(), () -> {
          })));
      settingsRead.await();
      for (int i = 0; i < 100; i++) {
        // The loop's turns in which others would be opened.
        onLoop(() -> true);
      }
      int connections = pod.connections();

      allows.countDown();

      Awaitility.await().untilAtomic(connected, org.hamcrest.Matchers.is(1));
      assertThat(connections).isOne();
      assertThat(pod.connections()).isOne();
    }
  }

  @Test
  void opensAnother_whenAConnectionThatAllowsNoStreamsEnds() throws Exception {
    var first = new AtomicInteger();
    try (var pod = new ScriptedPod(caller -> {
      boolean refuses = first.getAndIncrement() == 0;
      var http2 = RawHttp2.pod(caller, RawHttp2.MAX_CONCURRENT_STREAMS, refuses ? 0 : 1);
      while (http2.readAny().flags() != RawHttp2.ACK) {
        // Its acknowledgement says that the pool knows the limit.
      }
      if (!refuses) {
        caller.awaitEnd();
      }
    })) {
      var connected = new AtomicInteger();
      onLoop(() -> pools.to(DialTarget.plain(pod.destination()), PortProtocol.H2C).dial(
          new RecordingListener(_ -> connected.incrementAndGet(), () -> {
          })));

      Awaitility.await().untilAtomic(connected, org.hamcrest.Matchers.is(1));
    }
  }

  @Test
  void closesAnIdleConnectionAfterItsTimeout_whenItWasUsedSinceAnotherBecameIdle() {
    var network = new SimulatedNetwork(new Random(1));
    var pools = new ConnectionPoolsByLoop(network.loops(),
        new IdleLimits(1_000, 100, Duration.ofSeconds(90)), new Random(1),
        new PodTls(TestRevisions.unused()))
        .of(network.loop());
    network.pods(_ -> SimulatedNetwork.Answer.ACCEPT,
        pod -> pod.send(RawHttp2.bytes(RawHttp2.SETTINGS, 0, 0, new byte[0])));
    var pod = new Destination("10.1.1.1", 8012);
    pools.to(DialTarget.plain(pod), PortProtocol.H2C)
        .dial(new RecordingListener(UpstreamConnection::close, () -> {
        }));
    network.settle();
    network.advance(Duration.ofSeconds(60));
    pools.to(DialTarget.plain(pod), PortProtocol.H2C).reuse(new RecordingListener()).close();

    network.advance(Duration.ofSeconds(89));
    network.settle();
    assertThat(network.open()).hasSize(1);
    network.advance(Duration.ofSeconds(1));
    network.settle();
    assertThat(network.open()).isEmpty();
  }

  @Test
  void opensAnother_whenAConnectionThatAllowsNoMoreStreamsGoesAway() throws Exception {
    var connections = new AtomicInteger();
    var used = new CountDownLatch(1);
    var waits = new CountDownLatch(1);
    var settingsRead = new CountDownLatch(2);
    try (var pod = new ScriptedPod(caller -> {
      boolean first = connections.getAndIncrement() == 0;
      var http2 = RawHttp2.pod(caller, RawHttp2.MAX_CONCURRENT_STREAMS, 1);
      if (first) {
        await(used);
        http2.settings(RawHttp2.MAX_CONCURRENT_STREAMS, 0);
        while (settingsRead.getCount() > 0) {
          if (http2.readAny().flags() == RawHttp2.ACK) {
            settingsRead.countDown();
          }
        }
        await(waits);
        http2.goAway(Integer.MAX_VALUE, 0);
      }
      caller.awaitEnd();
    })) {
      var connected = new AtomicInteger();
      var keeps = new RecordingListener(_ -> connected.incrementAndGet(), () -> {
      });
      onLoop(() -> pools.to(DialTarget.plain(pod.destination()), PortProtocol.H2C).dial(keeps));
      Awaitility.await().untilAtomic(connected, org.hamcrest.Matchers.is(1));
      used.countDown();
      settingsRead.await();
      onLoop(() -> pools.to(DialTarget.plain(pod.destination()), PortProtocol.H2C).dial(keeps));
      onLoop(() -> true);

      waits.countDown();

      // While the first connection is still in use.
      Awaitility.await().untilAtomic(connected, org.hamcrest.Matchers.is(2));
    }
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Test
  void doesNotFailARequest_whenTheFailureOfAnotherHasCancelledIt() throws Exception {
    var nobody = ScriptedPod.nobody();
    List<Dial> dials = new ArrayList<>();
    var first = new RecordingListener(_ -> {
    }, () -> dials.get(1).cancel());
    var second = new RecordingListener();
    var third = new RecordingListener();
    onLoop(() -> {
      for (var listener : List.of(first, second, third)) {
        dials.add(pools.to(DialTarget.plain(nobody), PortProtocol.H2C).dial(listener));
      }
      return true;
    });

    Awaitility.await().until(() -> onLoop(() -> third.failure == UpstreamFailure.REFUSED));

    assertThat(onLoop(() -> first.failure)).isEqualTo(UpstreamFailure.REFUSED);
    assertThat(onLoop(() -> second.failure)).isNull();
  }

  @Test
  void keepsThePoolOfHttp1_whenItsLastConnectionIsFoundDead() throws Exception {
    try (var pod = ScriptedPod.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) {
      Destination to = pod.destination();
      var connected = new CompletableFuture<UpstreamConnection>();
      // given a dial by a pool that is not known yet, or no longer
      onLoop(() -> pools.to(DialTarget.plain(to), PortProtocol.HTTP1)
          .dial(new RecordingListener(connected::complete, () -> {
          })));
      var connection = connected.get(120, TimeUnit.SECONDS);

      // then it is the pod's pool again
      assertThat(onLoop(pools::poolCount)).isOne();
      onLoop(() -> {
        connection.close();
        return true;
      });
    }
  }
}
