package dev.activator.upstream;

import dev.activator.upstream.ProbeClient.ProbeResult;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import dev.activator.testing.TestRevisions;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.tls.DialTarget;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.testing.FullPod;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.testing.quiescence.Quiescence;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoopConnectionPoolsTest {
  private static final String QUEUE = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nqueue";

  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
  private final LoopGroup loops = new LoopGroup(group);
  private final NettyLoop loop = loops.all().getFirst();
  private final BlockingQueue<ProbeResult> answers = new LinkedBlockingQueue<>();
  private final List<ScriptedPod> pods = new ArrayList<>();

  @AfterEach
  void stop() throws IOException {
    for (var pod : pods) {
      pod.close();
    }
    group.shutdownGracefully(200, 5_000, TimeUnit.MILLISECONDS).awaitUninterruptibly();
  }

  private ConnectionPoolsByLoop upstreams(int total, int perDestination, Duration timeout) {
    return Quiescence
        .watch(new ConnectionPoolsByLoop(loops, new IdleLimits(total, perDestination, timeout),
            new Random(1),
            new PodTls(TestRevisions.unused())));
  }

  private ConnectionPoolsByLoop upstreams() {
    return upstreams(1000, 100, Duration.ofSeconds(90));
  }

  private ScriptedPod pod(ScriptedPod.Script script) throws IOException {
    var pod = new ScriptedPod(script);
    pods.add(pod);
    return pod;
  }

  private ScriptedPod pod(String response) throws IOException {
    return pod(caller -> {
      while (true) {
        caller.readHead();
        caller.send(response);
      }
    });
  }

  private void ask(ConnectionPoolsByLoop upstreams, Destination destination, Duration timeout) {
    var request = new ProbeRequest(destination, PortProtocol.HTTP1, "/healthz", "some.host",
        Map.of("K-Network-Probe", List.of("queue"), "User-Agent",
            List.of("Knative-Activator-Probe")),
        timeout);
    loop.execute(
        () -> Quiescence.watch(new HttpProbeClient(upstreams, 5_000)).probe(loop, request,
            answers::add));
  }

  private ProbeResult asked(ConnectionPoolsByLoop upstreams, ScriptedPod pod)
      throws InterruptedException {
    ask(upstreams, pod.destination(), Duration.ofSeconds(30));
    return answer();
  }

  private ProbeResult answer() throws InterruptedException {
    var answer = answers.poll(120, TimeUnit.SECONDS);
    assertThat(answer).isNotNull();
    return answer;
  }

  private <T> T onLoop(Callable<T> question) throws Exception {
    var result = new CompletableFuture<T>();
    loop.execute(() -> {
      try {
        result.complete(question.call());
      } catch (Exception failure) {
        result.completeExceptionally(failure);
      }
    });
    return result.get(120, TimeUnit.SECONDS);
  }

  private void awaitIdle(ConnectionPoolsByLoop upstreams, int connections) {
    Awaitility.await().until(
        () -> onLoop(() -> upstreams.of(loop).idleCount() == connections));
  }

  @Test
  void probesAndKeepsTheConnection() throws Exception {
    BlockingQueue<RawPeer.Head> seen = new LinkedBlockingQueue<>();
    var pod = pod(caller -> {
      while (true) {
        seen.add(caller.readHead());
        caller.send(QUEUE);
      }
    });
    var upstreams = upstreams();

    for (int i = 0; i < 3; i++) {
      assertThat(asked(upstreams, pod)).isEqualTo(new ProbeResult.Answered(200, "queue"));
    }

    Awaitility.await().until(() -> pod.connections() == 1);
    var question = seen.take();
    assertThat(question.start()).isEqualTo("GET /healthz HTTP/1.1");
    assertThat(question.lines()).containsExactlyInAnyOrder("host: some.host",
        "K-Network-Probe: queue", "User-Agent: Knative-Activator-Probe");
    awaitIdle(upstreams, 1);
    assertThat(upstreams.openCount()).isEqualTo(1);
    upstreams.close();
    Awaitility.await().until(() -> upstreams.openCount() == 0);
    assertThat(upstreams.idleCount()).isZero();
  }

  @Test
  void keepsTheFirstKilobyteOfAnAnswer() throws Exception {
    var pod = pod("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5000\r\n\r\n"
        + "x".repeat(5000));

    assertThat(asked(upstreams(), pod))
        .isEqualTo(new ProbeResult.Answered(503, "x".repeat(1024)));
  }

  @Test
  void readsNoMoreOfAnAnswerWithoutEndThanItNeeds() throws Exception {
    var pod = pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\n\r\n" + "x".repeat(200_000));
      caller.awaitEnd();
    });

    var upstreams = upstreams();
    assertThat(asked(upstreams, pod)).isEqualTo(new ProbeResult.Answered(200, "x".repeat(1024)));
    awaitIdle(upstreams, 0);
  }

  @Test
  void closesTheConnection_whenTheProbeOnlyConnects() throws Exception {
    var closed = new CompletableFuture<Void>();
    var pod = pod(caller -> {
      caller.awaitEnd();
      closed.complete(null);
    });
    var upstreams = upstreams();

    askForConnection(upstreams, pod.destination());
    assertThat(answer()).isEqualTo(new ProbeResult.Connected());
    closed.get(120, TimeUnit.SECONDS);
    awaitIdle(upstreams, 0);

    askForConnection(upstreams, ScriptedPod.nobody());
    assertThat(answer()).isEqualTo(new ProbeResult.Refused("connection refused"));
  }

  private void askForConnection(ConnectionPoolsByLoop upstreams, Destination destination) {
    var request = new ProbeRequest(destination, PortProtocol.HTTP1, "", "", Map.of(),
        Duration.ofSeconds(30));
    loop.execute(
        () -> Quiescence.watch(new HttpProbeClient(upstreams, 5_000)).probe(loop, request,
            answers::add));
  }

  @Test
  void saysWhyThereIsNoAnswer() throws Exception {
    ask(upstreams(), ScriptedPod.nobody(), Duration.ofSeconds(30));
    assertThat(answer()).isEqualTo(new ProbeResult.Refused("connection refused"));

    var silent = pod(RawPeer::awaitEnd);
    ask(upstreams(), silent.destination(), Duration.ofMillis(100));
    assertThat(answer()).isEqualTo(new ProbeResult.TimedOut(Duration.ofMillis(100), true));
  }

  @Test
  void triesAgainWhereThePooledConnectionWasDead() throws Exception {
    var pod = pod(caller -> {
      caller.readHead();
      caller.send(QUEUE);
      caller.readHead();
    });
    var upstreams = upstreams();

    for (int i = 0; i < 10; i++) {
      assertThat(asked(upstreams, pod)).isEqualTo(new ProbeResult.Answered(200, "queue"));
    }
  }

  @Test
  void closesWhatIsIdleForTooLong() throws Exception {
    BlockingQueue<String> ended = new LinkedBlockingQueue<>();
    var pod = pod(caller -> {
      caller.readHead();
      caller.send(QUEUE);
      caller.awaitEnd();
      ended.add("ended");
    });
    var upstreams = upstreams(1000, 100, Duration.ofMillis(50));

    asked(upstreams, pod);

    assertThat(ended.poll(120, TimeUnit.SECONDS)).isEqualTo("ended");
    awaitIdle(upstreams, 0);
    Awaitility.await().until(() -> onLoop(() -> upstreams.of(loop).poolCount() == 0));
  }

  @Test
  void keepsNoPool_whenNoRequestConnects() throws Exception {
    var upstreams = upstreams();

    onLoop(() -> {
      upstreams.of(loop).to(DialTarget.plain(new Destination("127.0.0.1", 1)), PortProtocol.HTTP1)
          .reuse(new RecordingListener());
      return upstreams.of(loop)
          .to(DialTarget.plain(new Destination("127.0.0.1", 1)), PortProtocol.H2C)
          .reuse(new RecordingListener());
    });

    assertThat(onLoop(() -> upstreams.of(loop).poolCount())).isZero();
  }

  @Test
  void forgetsAPodThatEndsItsConnections() throws Exception {
    var pod = pod(QUEUE);
    var upstreams = upstreams();
    asked(upstreams, pod);
    awaitIdle(upstreams, 1);

    pod.close();

    awaitIdle(upstreams, 0);
    Awaitility.await()
        .until(() -> onLoop(() -> upstreams.of(loop).poolCount() == 0));
  }

  @Test
  void closesTheOldestWhereThereAreTooManyInAll() throws Exception {
    BlockingQueue<String> ended = new LinkedBlockingQueue<>();
    var first = pod(caller -> {
      caller.readHead();
      caller.send(QUEUE);
      caller.awaitEnd();
      ended.add("first");
    });
    var upstreams = upstreams(2, 100, Duration.ofSeconds(90));
    asked(upstreams, first);
    asked(upstreams, pod(QUEUE));
    asked(upstreams, pod(QUEUE));

    assertThat(ended.poll(120, TimeUnit.SECONDS)).isEqualTo("first");
    awaitIdle(upstreams, 2);
  }

  @Test
  void closesIdleConnections_beyondTheLimitOfOnePod() throws Exception {
    var all = new CyclicBarrier(5);
    var pod = pod(caller -> {
      while (true) {
        caller.readHead();
        try {
          all.await();
        } catch (InterruptedException | BrokenBarrierException stopped) {
          throw new IOException(stopped);
        }
        caller.send(QUEUE);
      }
    });
    var upstreams = upstreams(1000, 3, Duration.ofSeconds(90));

    for (int i = 0; i < 5; i++) {
      ask(upstreams, pod.destination(), Duration.ofSeconds(30));
    }
    for (int i = 0; i < 5; i++) {
      assertThat(answer()).isEqualTo(new ProbeResult.Answered(200, "queue"));
    }

    awaitIdle(upstreams, 3);
  }

  @Test
  void closesEverythingAtTheEnd() throws Exception {
    var upstreams = upstreams();
    asked(upstreams, pod(QUEUE));
    awaitIdle(upstreams, 1);

    upstreams.close();
    awaitIdle(upstreams, 0);
  }

  @Test
  void dialsAgainWhereAnAttemptTimesOut() throws Exception {
    try (var full = new FullPod()) {
      var upstreams = upstreams();
      ask(upstreams, full.destination(), Duration.ofSeconds(30));

      // When it has room again, after the first attempts.
      try (var accepted = full.accept()) {
        // Then a later one comes through.
        accepted.readHead();
        accepted.send(QUEUE);
        assertThat(answer()).isEqualTo(new ProbeResult.Answered(200, "queue"));
      }
    }
  }

  @Test
  void sharesAnOpeningHttp2Connection_untilARequestTimesOut() throws Exception {
    // given one that is open, and whose pod has not said how many streams it takes
    var pod = pod(RawPeer::awaitEnd);
    var pool = upstreams().of(loop).to(DialTarget.plain(pod.destination()), PortProtocol.H2C);
    var first = onLoop(() -> pool.dial(new Patient()));
    Awaitility.await().until(() -> pod.connections() == 1);

    // when its caller leaves, then the next waits for the same
    onLoop(() -> {
      first.cancel();
      return true;
    });
    var second = onLoop(() -> pool.dial(new Patient()));
    assertThat(pod.connections()).isOne();

    // when it has taken too long, then another is opened
    var third = onLoop(() -> {
      second.timedOut();
      return pool.dial(new Patient());
    });
    Awaitility.await().until(() -> pod.connections() == 2);

    // The pod's end would make the pool connect again while the loop stops.
    onLoop(third::timedOut);
  }

  /** Waits for a connection, and does nothing with it. */
  private static final class Patient implements UpstreamListener {
    @Override
    public void connected(UpstreamConnection connection) {}

    @Override
    public void interim(HttpResponse head) {}

    @Override
    public void head(HttpResponse head) {}

    @Override
    public void content(HttpContent content) {}

    @Override
    public void readComplete() {}

    @Override
    public void writabilityChanged() {}

    @Override
    public void failed(UpstreamFailure failure) {}
  }
}
