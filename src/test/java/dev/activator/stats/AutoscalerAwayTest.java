package dev.activator.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.testing.TestRevisions;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.Readiness;
import dev.activator.lifecycle.ActivatorHealth.AutoscalerReadinessPolicy;
import dev.activator.loop.LoopGroup;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.ProxyServer;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.FreePort;
import dev.activator.testing.Make;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.testing.SteppedLoop;
import dev.activator.throttle.Throttler;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.ConnectionPoolsByLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.WebsocketServerSpec;
import reactor.netty.http.websocket.WebsocketInbound;
import reactor.netty.http.websocket.WebsocketOutbound;

/**
 * An autoscaler that is away for a minute, while requests come to pods that are there: proxy,
 * throttler, link and all sockets are the real ones, and only the link's time is moved by hand.
 */
class AutoscalerAwayTest {
  private static final Duration LONG = Duration.ofSeconds(120);
  private static final Duration STEP = Duration.ofMillis(250);
  private static final int CALLERS = 4;
  private static final RevisionId HELLO = new RevisionId("default", "hello");
  private static final RevisionId AT_ZERO = new RevisionId("default", "at-zero");
  private static final RevisionId LEFT = new RevisionId("default", "left");

  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(2,
      NioIoHandler.newFactory());
  private final LoopGroup loops = new LoopGroup(group);
  private final SteppedLoop time = new SteppedLoop(loops.loopFor("autoscaler"));
  private final CountedDialer attempts = new CountedDialer(
      new WebSocketDialer(() -> URI.create(url()), loops.loopFor("autoscaler")));
  private final AutoscalerLink link = new AutoscalerLink(time, attempts, "activator-1",
      AutoscalerLink.Timings.DEFAULT, new Random(1));
  private final TestRevisions revisions = new TestRevisions(loops::loopFor,
      Revision.of(HELLO, 10), Revision.of(AT_ZERO, 10), Revision.of(LEFT, 10));
  private final ConcurrencyReporter reporter = new ConcurrencyReporter(revisions.live, time,
      Duration.ofSeconds(1), link);
  private final ActivatorHealth health = new ActivatorHealth(AutoscalerReadinessPolicy.STARTUP);
  private final List<String> changes = new CopyOnWriteArrayList<>();
  private final Queue<RevisionStat> received = new ConcurrentLinkedQueue<>();
  private final List<RawPeer> callers = new ArrayList<>();
  private ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private volatile boolean answersPings = true;
  private @Nullable DisposableServer autoscaler;
  private @Nullable Throttler throttler;
  private @Nullable ProxyServer proxy;
  private @Nullable ScriptedPod pod;
  private final int port = FreePort.next();
  private int requests;
  private int served;

  private static String request(RevisionId revision) {
    return "GET / HTTP/1.1\r\nHost: any\r\nKnative-Serving-Namespace: " + revision.namespace()
        + "\r\nKnative-Serving-Revision: " + revision.name() + "\r\n\r\n";
  }

  private String url() {
    return "ws://127.0.0.1:" + port;
  }

  private void autoscalerComes() {
    connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    var http = HttpServer.create().host("127.0.0.1").port(port).channelGroup(connections)
        .route(routes -> routes.ws("/", this::talk,
            WebsocketServerSpec.builder().handlePing(true).build()));
    // A program that another test starts holds a port that was closed until it runs.
    autoscaler = await().ignoreExceptionsInstanceOf(ChannelBindException.class)
        .until(() -> http.bindNow(LONG), _ -> true);
  }

  private void autoscalerGoes() {
    if (autoscaler != null) {
      autoscaler.channel().close().awaitUninterruptibly();
    }
    // Those too that it does not talk on yet.
    connections.close().awaitUninterruptibly();
  }

  private Publisher<Void> talk(WebsocketInbound in, WebsocketOutbound out) {
    return in.receiveFrames().doOnNext(frame -> {
      if (frame instanceof BinaryWebSocketFrame) {
        byte[] bytes = new byte[frame.content().readableBytes()];
        frame.content().readBytes(bytes);
        received.addAll(FakeAutoscaler.decoded(bytes));
      } else if (frame instanceof PingWebSocketFrame && answersPings) {
        out.sendObject(new PongWebSocketFrame()).then().subscribe();
      }
    }).then();
  }

  private void activatorComes() throws Exception {
    var queues = Make.throttler(revisions.live, 100);
    throttler = queues;
    revisions.live.all().forEach(queues::onRevision);
    var there = ScriptedPod.answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    pod = there;
    queues.onDestinations(
        HealthyDestinations.pods(HELLO, DestinationSet.of(there.destination())));
    link.onChange(new AutoscalerLink.Listener() {
      @Override
      public void connected() {
        changes.add("connected");
        health.link(true);
      }

      @Override
      public void lost() {
        changes.add("lost");
        health.link(false);
      }
    });
    var upstreams = Quiescence
        .watch(new ConnectionPoolsByLoop(loops, IdleLimits.DEFAULT, new Random(1),
            new PodTls(TestRevisions.unused())));
    var router = new Router(new RevisionResolver.Knative("cluster.local", (_, _, _) -> null),
        _ -> null,
        revisions.live,
        health::readiness);
    var held = Quiescence.watch(new HeldRequestBytes(new HeldMemoryLimit(1 << 20)));
    var server = new ProxyServer(group, group, loops, Duration.ofSeconds(60),
        loop -> Dispatchers.with(loop, router, queues::admit, upstreams.of(loop))
            .counter(reporter.onLoop(loop)).held(held.share()).build());
    proxy = server;
    requests = server.listen("127.0.0.1", 0);
    for (int i = 0; i < CALLERS; i++) {
      callers.add(RawPeer.connect(requests));
    }
    link.onChange(reporter);
    health.synced();
    link.open();
    reporter.start();
  }

  @AfterEach
  void stop() throws Exception {
    reporter.stop();
    link.close();
    for (var caller : callers) {
      caller.close();
    }
    if (proxy != null) {
      proxy.close();
    }
    if (pod != null) {
      pod.close();
    }
    autoscalerGoes();
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private int queued(RevisionId revision) {
    var view = throttler == null ? null : throttler.view(revision);
    return view == null ? 0 : view.queued();
  }

  /** So long, with warm requests all the time, of which none may fail or find it not ready. */
  private void pass(Duration length) throws Exception {
    for (var left = length; left.isPositive(); left = left.minus(STEP)) {
      for (var caller : callers) {
        caller.send(request(HELLO));
      }
      for (var caller : callers) {
        var head = caller.readHead();
        assertThat(head.start()).isEqualTo("HTTP/1.1 200 OK");
        assertThat(caller.readBody(head)).isEqualTo("hello");
        served++;
      }
      assertThat(health.readiness()).isEqualTo(new Readiness.Ready());
      time.advance(STEP);
      await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(2))
          .until(() -> attempts.settled(answersPings));
    }
  }

  @Test
  @DisplayName("a minute without an autoscaler costs no warm request")
  void aMinuteWithoutAnAutoscalerCostsNoWarmRequest() throws Exception {
    autoscalerComes();
    activatorComes();
    await().until(link::connected);
    pass(Duration.ofSeconds(5));
    assertThat(changes).containsExactly("connected");
    assertThat(received).isNotEmpty().allMatch(stat -> stat.revision().equals(HELLO));

    // when it says nothing any more, then that is noticed by the pong that does not come
    answersPings = false;
    pass(Duration.ofSeconds(11));
    assertThat(changes).startsWith("connected", "lost");

    // when it is gone, then it is called less and less often: at a tenth of a second first, and
    // after a minute at pauses of eleven, which makes some twenty calls of what could be hundreds
    autoscalerGoes();
    await().until(() -> !link.connected());
    int before = attempts.made();
    pass(Duration.ofSeconds(10));
    try (var waiting = RawPeer.connect(requests)) {
      waiting.send(request(AT_ZERO));
      try (var impatient = RawPeer.connect(requests)) {
        impatient.send(request(LEFT));
        await().until(() -> queued(LEFT) == 1 && queued(AT_ZERO) == 1);
        pass(Duration.ofSeconds(20));
      }
      await().until(() -> queued(LEFT) == 0);
      pass(Duration.ofSeconds(30));
      assertThat(attempts.made() - before).isBetween(15, 25);
      assertThat(link.connected()).isFalse();

      // when it is back, then it is found at the next call, and hears of what waits, not of what left
      received.clear();
      answersPings = true;
      attempts.forgetPings();
      autoscalerComes();
      pass(Duration.ofSeconds(20));
      assertThat(changes).endsWith("lost", "connected");
      assertThat(received).filteredOn(stat -> stat.revision().equals(AT_ZERO))
          .startsWith(RevisionStat.first(AT_ZERO));
      assertThat(received).noneMatch(stat -> stat.revision().equals(LEFT))
          .anyMatch(stat -> stat.revision().equals(HELLO));
    }
    await().until(() -> queued(AT_ZERO) == 0);
    // 5 + 11 + 60 + 20 seconds, four steps a second, four callers
    assertThat(served).isEqualTo(96 * 4 * CALLERS);
  }
}
