package dev.activator.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.tls.DialTarget;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.PodConnectionPools.OpenListener;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import dev.activator.upstream.ProbeClient.ProbeResult;
import io.netty.channel.Channel;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An address that refused, with Linux's native transport. */
class AwaitListenerTest {
  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      EpollIoHandler.newFactory());
  private final LoopGroup loops = new LoopGroup(group);
  private final NettyLoop loop = loops.all().getFirst();
  private final ConnectionPoolsByLoop upstreams = new ConnectionPoolsByLoop(loops,
      IdleLimits.DEFAULT, new Random(1), new PodTls(TestRevisions.unused()));
  private final HttpProbeClient client = Quiescence.watch(new HttpProbeClient(upstreams, 5_000));
  private final BlockingQueue<ProbeResult> answers = new LinkedBlockingQueue<>();
  private final AtomicInteger accepted = new AtomicInteger();
  private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();

  @AfterEach
  void stop() {
    // Before the loop ends: after that, the end of a connection is not noticed.
    Quiescence.check(upstreams);
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private static ProbeRequest probe(Destination pod, PortProtocol protocol, String path) {
    return new ProbeRequest(pod, protocol, path, "some.host", Map.of(), Duration.ofSeconds(30));
  }

  /** Probes once something listens, as a watcher does. */
  private ProbeResult awaitAndProbe(ProbeRequest probe) throws InterruptedException {
    loop.execute(() -> client.awaitListener(loop, probe, Duration.ofMillis(5), Duration.ZERO,
        refused -> {
          if (refused) {
            answers.add(new ProbeResult.Refused("connection refused"));
          } else {
            client.probe(loop, probe, answers::add);
          }
        }));
    return answers.poll(120, TimeUnit.SECONDS);
  }

  private ScriptedPod pod() throws IOException {
    return new ScriptedPod(caller -> {
      accepted.incrementAndGet();
      try {
        serve(caller);
      } finally {
        ended.add("ended");
      }
    });
  }

  private static void serve(RawPeer caller) throws IOException {
    while (true) {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  }

  @Test
  void probesOverTheConnectionThatWasOpened() throws Exception {
    try (var pod = pod()) {
      var probe = probe(pod.destination(), PortProtocol.HTTP1, "/up");

      assertThat(awaitAndProbe(probe)).isEqualTo(new ProbeResult.Answered(200, "ok"));
      assertThat(accepted).hasValue(1);
      // The next request uses it, too.
      client.probe(loop, probe, answers::add);
      assertThat(answers.poll(120, TimeUnit.SECONDS))
          .isEqualTo(new ProbeResult.Answered(200, "ok"));
      assertThat(accepted).hasValue(1);
      assertThat(upstreams.openCount()).isOne();
      assertThat(upstreams.idleCount()).isOne();
    }
  }

  @Test
  void closesTheConnection_ofAProbeThatOnlyConnects() throws Exception {
    try (var pod = pod()) {
      assertThat(awaitAndProbe(probe(pod.destination(), PortProtocol.HTTP1, "")))
          .isEqualTo(new ProbeResult.Connected());
      assertThat(ended.poll(120, TimeUnit.SECONDS)).isNotNull();
      assertThat(ended.poll(120, TimeUnit.SECONDS)).isNotNull();
      assertThat(upstreams.openCount()).isZero();
    }
  }

  @Test
  void leavesTheConnectionOfATcpProbeThatOnlyConnects_toTheClient() throws Exception {
    try (var pod = pod()) {
      var probe = probe(pod.destination(), PortProtocol.TCP, "");
      var opened = new CompletableFuture<Channel>();
      loop.execute(() -> client.awaitListener(loop, probe, Duration.ofMillis(5), Duration.ZERO,
          _ -> client.probe(loop, probe, answer -> {
            answers.add(answer);
            upstreams.of(loop).open(pod.destination(), new Opening(opened));
          })));

      opened.get(120, TimeUnit.SECONDS).close().await();
      assertThat(answers.poll()).isEqualTo(new ProbeResult.Connected());
      assertThat(ended.poll(120, TimeUnit.SECONDS)).isNotNull();
      assertThat(accepted).hasValue(1);
    }
  }

  @Test
  void closesTheConnectionOfATcpProbe_thatNoClientTakes() throws Exception {
    try (var pod = pod()) {
      assertThat(awaitAndProbe(probe(pod.destination(), PortProtocol.TCP, "")))
          .isEqualTo(new ProbeResult.Connected());
      assertThat(ended.poll(120, TimeUnit.SECONDS)).isNotNull();
      assertThat(accepted).hasValue(1);
    }
  }

  @Test
  void dialsAgain_whenThePodHasResetTheConnection() throws Exception {
    // given a server that ends right after it has listened, with a connection that it has not accepted
    try (var pod = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      var at = new Destination("127.0.0.1", pod.getLocalPort());
      var probe = probe(at, PortProtocol.TCP, "");
      var opened = new CompletableFuture<Channel>();

      // when a client takes that connection
      loop.execute(() -> client.awaitListener(loop, probe, Duration.ofMillis(5), Duration.ZERO,
          _ -> {
            close(pod);
            upstreams.of(loop).open(at, new Opening(opened));
          }));

      // then nothing listens
      assertThat(opened).failsWithin(Duration.ofSeconds(120));
    }
  }

  private static void close(ServerSocket pod) {
    try {
      pod.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void expectsTheAnswerOnTheConnectionThatWasOpened() throws Exception {
    try (var pod = new ScriptedPod(caller -> {
      accepted.incrementAndGet();
      caller.send("READY");
      caller.readToEnd();
    })) {
      var probe = new ProbeRequest(DialTarget.plain(pod.destination()), PortProtocol.TCP, "",
          ReadinessProbeSpec.answering(new ReadinessProbeSpec.ExpectedAnswer("", "R"))
              .within(Duration.ofSeconds(30)),
          Duration.ofSeconds(30));

      assertThat(awaitAndProbe(probe)).isEqualTo(new ProbeResult.Connected());
      assertThat(accepted).hasValue(1);
    }
  }

  private record Opening(CompletableFuture<Channel> opened) implements OpenListener {
    @Override
    public void connected(Channel channel) {
      opened.complete(channel);
    }

    @Override
    public void failed(UpstreamFailure failure) {
      opened.completeExceptionally(new IOException(failure.text()));
    }
  }

  @Test
  void dialsAnother_whenThePodClosedTheConnection() throws Exception {
    var first = new AtomicBoolean(true);
    try (var pod = new ScriptedPod(caller -> {
      if (!first.getAndSet(false)) {
        serve(caller);
      }
    })) {
      assertThat(awaitAndProbe(probe(pod.destination(), PortProtocol.HTTP1, "/up")))
          .isEqualTo(new ProbeResult.Answered(200, "ok"));
    }
  }

  @Test
  void saysThatAPodStillRefuses() throws Exception {
    assertThat(awaitAndProbe(probe(ScriptedPod.nobody(), PortProtocol.HTTP1, "/up")))
        .isEqualTo(new ProbeResult.Refused("connection refused"));
  }
}
