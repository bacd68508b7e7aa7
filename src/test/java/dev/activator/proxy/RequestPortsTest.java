package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.TestRevisions;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.ActivatorHealth.AutoscalerReadinessPolicy;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.testing.RawPeer;
import dev.activator.throttle.Throttler;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.ConnectionPoolsByLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RequestPortsTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello");
  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final ActivatorHealth health = new ActivatorHealth(AutoscalerReadinessPolicy.NEVER);
  private final LateLoop late = new LateLoop();
  private ProxyServer server;
  private Throttler throttler;
  private RequestPorts ports;

  /** What is to be done, and when. */
  private record Later(Duration delay, Runnable action) {}

  /** Does nothing by itself. */
  private static final class LateLoop implements Loop {
    private final BlockingQueue<Later> scheduled = new LinkedBlockingQueue<>();

    @Override
    public void execute(Runnable task) {
      schedule(Duration.ZERO, task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable action) {
      scheduled.add(new Later(delay, action));
      return () -> {
      };
    }

    @Override
    public long nanoTime() {
      return 0;
    }

    private Later next() throws InterruptedException {
      var next = scheduled.poll(120, TimeUnit.SECONDS);
      assertThat(next).isNotNull();
      return next;
    }
  }

  @BeforeEach
  void open() throws IOException {
    var loops = new LoopGroup(group);
    var revisions = new TestRevisions(loops::loopFor, Revision.of(HELLO, 1));
    var router = new Router(new RevisionResolver.Knative("cluster.local", (_, _, _) -> null),
        _ -> null,
        revisions.live,
        health::readiness);
    throttler = Make.throttler(revisions.live, 10);
    var upstreams = Quiescence
        .watch(new ConnectionPoolsByLoop(loops, IdleLimits.DEFAULT, new Random(1),
            new PodTls(TestRevisions.unused())));
    var held = Quiescence.watch(new HeldRequestBytes(new HeldMemoryLimit(1 << 20)));
    server = new ProxyServer(group, group, loops, Duration.ofSeconds(60),
        loop -> Dispatchers.with(loop, router, throttler::admit, upstreams.of(loop))
            .held(held.share()).build());
    ports = ports(Duration.ofSeconds(40), Duration.ofSeconds(30));
    ports.open();
  }

  private RequestPorts ports(Duration propagationDelay, Duration drainTimeout) {
    return new RequestPorts(server,
        new RequestPorts.Settings("127.0.0.1", 0, 0, 0, null, propagationDelay, drainTimeout),
        () -> null, health, late, throttler);
  }

  @AfterEach
  void close() {
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  /** What the answer to a request says of the connection. */
  private static String connectionAfterARequest(RawPeer caller) throws IOException {
    caller.sendHead("GET / HTTP/1.1", "Host: x", "Knative-Serving-Namespace: default",
        "Knative-Serving-Revision: none");
    var head = caller.readHead();
    caller.readBody(head);
    assertThat(head.start()).startsWith("HTTP/1.1 404 ");
    return head.header("Connection");
  }

  @Test
  void kubeletsPortIsNotOpen_whenAnotherCannotBeOpened() throws Exception {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var others = new RequestPorts(server, new RequestPorts.Settings("127.0.0.1", 0,
          taken.getLocalPort(), 0, null, Duration.ZERO, Duration.ZERO), () -> null, health, late,
          throttler);
      assertThatThrownBy(others::open).isInstanceOf(IOException.class);
      assertThat(others.isOpen()).isFalse();
    }
  }

  @Test
  void makesCallersLeaveInTheSecondHalfOfTheTimeThatLoadBalancersHave() throws Exception {
    try (var busy = RawPeer.connect(ports.http1()); var idle = RawPeer.connect(ports.http1())) {
      assertThat(connectionAfterARequest(busy)).isNull();
      assertThat(connectionAfterARequest(idle)).isNull();

      // when it is told to end, then nothing changes for those who have a connection
      var draining = Thread.ofVirtual().start(ports::drain);
      var half = late.next();
      var whole = late.next();
      assertThat(connectionAfterARequest(busy)).isNull();

      // and after half of the time a caller that sends something is asked to leave
      assertThat(half.delay()).isEqualTo(Duration.ofSeconds(20));
      half.action().run();
      Awaitility.await()
          .until(() -> "close".equals(connectionAfterARequest(busy)));
      assertThat(busy.readToEnd()).isEmpty();

      // and only then the rest is ended
      assertThat(whole.delay()).isEqualTo(Duration.ofSeconds(40));
      whole.action().run();
      assertThat(idle.readToEnd()).isEmpty();
      assertThat(draining.join(Duration.ofMinutes(2))).isTrue();
    }
  }

  @Test
  void aRequestThatStillWaitsWhenTheTimeIsOverGetsTheCause() throws Exception {
    try (var caller = RawPeer.connect(ports.http1())) {
      caller.sendHead("GET / HTTP/1.1", "Host: hello.default.svc.cluster.local");
      Awaitility.await().until(() -> {
        var view = throttler.view(HELLO);
        return view != null && view.queued() == 1;
      });

      var draining = Thread.ofVirtual().start(ports(Duration.ZERO, Duration.ofMillis(1))::drain);
      late.next().action().run();
      late.next().action().run();

      var head = caller.readHead();
      assertThat(head.start()).startsWith("HTTP/1.1 503 ");
      assertThat(head.header("K-Activator-Reason")).isEqualTo("shutting-down");
      assertThat(draining.join(Duration.ofMinutes(2))).isTrue();
    }
  }
}
