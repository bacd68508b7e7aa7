package dev.activator.upstream;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.testing.Authority;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.tls.DialTarget;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import dev.activator.upstream.ProbeClient.ProbeResult;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;

class HttpProbeClientTest {
  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final LoopGroup loops = new LoopGroup(group);
  private final NettyLoop loop = loops.all().getFirst();
  private final ConnectionPoolsByLoop upstreams = new ConnectionPoolsByLoop(loops,
      IdleLimits.DEFAULT, new Random(1),
      new PodTls(TestRevisions.unused()));
  private final ProbeClient client = Quiescence.watch(new HttpProbeClient(upstreams, 5_000));
  private final BlockingQueue<ProbeResult> answers = new LinkedBlockingQueue<>();

  @AfterEach
  void stop() {
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private ProbeResult asked(Destination destination, PortProtocol protocol, Duration timeout)
      throws InterruptedException {
    return asked(new ProbeRequest(destination, protocol, "/up", "some.host",
        Map.of("User-Agent", List.of("Knative-Activator-Probe")), timeout));
  }

  private ProbeResult asked(ProbeRequest request) throws InterruptedException {
    loop.execute(() -> client.probe(loop, request, answers::add));
    var answer = answers.poll(120, TimeUnit.SECONDS);
    assertThat(answer).isNotNull();
    return answer;
  }

  private ProbeResult asked(Destination destination, PortProtocol protocol)
      throws InterruptedException {
    return asked(destination, protocol, Duration.ofSeconds(30));
  }

  /** A pod that speaks HTTP/2 and nothing else. */
  private static DisposableServer h2cOnly(int status) {
    return HttpServer.create().host("127.0.0.1").port(0).protocol(HttpProtocol.H2C)
        .handle((request, response) -> response.status(status)
            .sendString(Mono.just(request.path() + " " + request.requestHeaders().get("host") + " "
                + request.requestHeaders().get("user-agent"))))
        .bindNow();
  }

  private static Destination of(DisposableServer pod) {
    return new Destination("127.0.0.1", pod.port());
  }

  @Test
  void probesAPodThatSpeaksOnlyHttp2() throws Exception {
    var pod = h2cOnly(200);

    assertThat(asked(of(pod), PortProtocol.H2C))
        .isEqualTo(new ProbeResult.Answered(200, "up some.host Knative-Activator-Probe"));
    pod.disposeNow();
  }

  @Test
  void passesOnWhateverStatusItAnswers() throws Exception {
    var pod = h2cOnly(404);

    assertThat(asked(of(pod), PortProtocol.H2C)).isInstanceOfSatisfying(ProbeResult.Answered.class,
        answer -> assertThat(answer.status()).isEqualTo(404));
    pod.disposeNow();
  }

  @Test
  void reportsInvalidResponse_whenAnHttp1PodGetsAnHttp2Probe() throws Exception {
    try (var pod = new ScriptedPod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Length: 0\r\n\r\n");
    })) {
      assertThat(asked(pod.destination(), PortProtocol.H2C))
          .isInstanceOf(ProbeResult.InvalidResponse.class);
    }
  }

  @Test
  void reportsInvalidResponse_whenAnHttp2PodGetsAnHttp1Probe() throws Exception {
    // given one that sends its settings first, as servers of HTTP/2 do
    try (var pod = new ScriptedPod(caller -> {
      caller.send(new byte[]{0, 0, 0, 4, 0, 0, 0, 0, 0});
      caller.readHead();
    })) {
      assertThat(asked(pod.destination(), PortProtocol.HTTP1))
          .isInstanceOf(ProbeResult.InvalidResponse.class);
    }
  }

  @Test
  void saysThatNothingListens() throws Exception {
    assertThat(asked(ScriptedPod.nobody(), PortProtocol.H2C))
        .isEqualTo(new ProbeResult.Refused("connection refused"));
  }

  @Test
  void waitsNoLongerThanItsTimeout() throws IOException, InterruptedException {
    try (var silent = new ScriptedPod(RawPeer::awaitEnd)) {
      assertThat(asked(silent.destination(), PortProtocol.H2C, Duration.ofMillis(100)))
          .isEqualTo(new ProbeResult.TimedOut(Duration.ofMillis(100), false));
    }
  }

  @Test
  void opensAnotherConnection_whenAProbeHasTimedOut() throws Exception {
    try (var silent = new ScriptedPod(RawPeer::awaitEnd)) {
      // The time may be over before a loop that waits for a core has dialed.
      Awaitility.await().until(() -> {
        asked(silent.destination(), PortProtocol.H2C, Duration.ofMillis(100));
        return silent.connections() >= 2;
      });
    }
  }

  @Test
  void reusesAnOpeningHttp2Connection_whenARequestIsCancelled() throws Exception {
    try (var silent = new ScriptedPod(RawPeer::awaitEnd)) {
      var listener = (UpstreamListener) Proxy.newProxyInstance(getClass().getClassLoader(),
          new Class<?>[]{UpstreamListener.class}, (_, _, _) -> null);
      loop.execute(
          () -> upstreams.of(loop).to(DialTarget.plain(silent.destination()), PortProtocol.H2C)
              .dial(listener).cancel());

      asked(silent.destination(), PortProtocol.H2C, Duration.ofMillis(100));

      Awaitility.await().until(() -> silent.connections() > 0);
      assertThat(silent.connections()).isOne();
    }
  }

  @Test
  void anHttp2ConnectionIsKeptAfterAnAnswer() throws Exception {
    Set<SocketAddress> callers = ConcurrentHashMap.newKeySet();
    var pod = HttpServer.create().host("127.0.0.1").port(0).protocol(HttpProtocol.H2C)
        .handle((request, response) -> {
          callers.add(request.remoteAddress());
          return response.send();
        }).bindNow();

    asked(of(pod), PortProtocol.H2C);
    asked(of(pod), PortProtocol.H2C);

    assertThat(callers).hasSize(1);
    pod.disposeNow();
  }

  private static ProbeRequest overTls(Destination pod, String path, Authority authority) {
    var identity = new PodIdentity.OfService("web.shop.svc", authority.pem());
    return new ProbeRequest(new DialTarget(pod, identity), PortProtocol.NEGOTIATED, "some.host",
        new ReadinessProbeSpec(path, Map.of(), Duration.ofSeconds(30)), Duration.ofSeconds(30));
  }

  @Test
  void probesOverTls_andKeepsTheConnection() throws Exception {
    var authority = Authority.named("one");
    var shown = authority.issue("web.shop.svc").serve();
    try (var pod = ScriptedPod.overTls(() -> shown, caller -> {
      for (int status = 201;; status++) {
        caller.readHead();
        caller.send("HTTP/1.1 " + status + " x\r\nContent-Length: 0\r\n\r\n");
      }
    }, "http/1.1")) {
      var request = overTls(pod.destination(), "/up", authority);
      assertThat(asked(request)).isEqualTo(new ProbeResult.Answered(201, ""));
      assertThat(asked(request)).isEqualTo(new ProbeResult.Answered(202, ""));
    }
  }

  @Test
  void completesTheHandshake_whereThereIsNoPath() throws Exception {
    var authority = Authority.named("one");
    var shown = authority.issue("web.shop.svc").serve();
    try (var pod = ScriptedPod.overTls(() -> shown, RawPeer::readToEnd)) {
      assertThat(asked(overTls(pod.destination(), "", authority)))
          .isEqualTo(new ProbeResult.Connected());
      assertThat(asked(overTls(pod.destination(), "", Authority.named("two"))))
          .isEqualTo(new ProbeResult.Failed(UpstreamFailure.UNKNOWN_ISSUER.text()));
    }
  }

  @Test
  void connectsAndSendsNothingWhereThereIsNoPath() throws Exception {
    var received = new LinkedBlockingQueue<String>();
    try (var pod = new ScriptedPod(caller -> received.add(caller.readToEnd()))) {
      for (var protocol : List.of(PortProtocol.HTTP1, PortProtocol.H2C)) {
        assertThat(asked(connecting(pod.destination(), protocol)))
            .isEqualTo(new ProbeResult.Connected());
        assertThat(received.poll(120, TimeUnit.SECONDS)).isEmpty();
      }
    }
  }

  @Test
  void triesAgainOnce_whenAnHttp2PodRefusesEachStream() throws Exception {
    var refused = new AtomicInteger();
    var answersFirst = new AtomicBoolean(true);
    try (var pod = new ScriptedPod(caller -> {
      var http2 = RawHttp2.pod(caller);
      while (true) {
        var frame = http2.read(RawHttp2.HEADERS);
        if (answersFirst.getAndSet(false)) {
          http2.headers(frame.stream(), true, ":status", "200");
        } else {
          refused.incrementAndGet();
          http2.reset(frame.stream(), 7);
        }
      }
    })) {
      assertThat(asked(pod.destination(), PortProtocol.H2C))
          .isEqualTo(new ProbeResult.Answered(200, ""));

      assertThat(asked(pod.destination(), PortProtocol.H2C, Duration.ofSeconds(30)))
          .isInstanceOf(ProbeResult.InvalidResponse.class);
      assertThat(refused).hasValue(2);
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {"the answer | +PONG~r~n | ",
      "with more after it | +PONGO | ",
      "in two pieces | +PO,NG | ", "another one | -LOADING Redis | answered '-LOADING Redis'",
      "a part, and the end | +PO,END | ended the connection before it answered as one that is ready",
      "only the end | END | ended the connection before it answered as one that is ready"})
  void expectsAnAnswer(String what, String script, @Nullable String reason) throws Exception {
    var asked = new ArrayBlockingQueue<String>(1);
    try (var pod = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread.startVirtualThread(() -> {
        try (var socket = pod.accept()) {
          asked.add(new String(socket.getInputStream().readNBytes(7), ISO_8859_1));
          for (var piece : script.replace("~r", "\r").replace("~n", "\n").split(",")) {
            if (piece.equals("END")) {
              return;
            }
            socket.getOutputStream().write(piece.getBytes(ISO_8859_1));
          }
          // Until the probe closes the connection.
          var _ = socket.getInputStream().read();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      });

      var answer = asked(answering(new Destination("127.0.0.1", pod.getLocalPort()),
          new ReadinessProbeSpec.ExpectedAnswer("PI\u00ffNG\r\n", "+PONG"),
          Duration.ofSeconds(30)));

      assertThat(answer).isEqualTo(
          reason == null ? new ProbeResult.Connected() : new ProbeResult.Unexpected(reason));
      assertThat(asked.poll(120, TimeUnit.SECONDS)).isEqualTo("PI\u00ffNG\r\n");
    }
  }

  @Test
  void waitsForAnAnswerUntilTheTimeout_orNotAtAllIfRefused() throws Exception {
    var expected = new ReadinessProbeSpec.ExpectedAnswer("", "SSH-");
    var timeout = Duration.ofMillis(50);
    try (var silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      assertThat(asked(answering(new Destination("127.0.0.1", silent.getLocalPort()), expected,
          timeout))).isEqualTo(new ProbeResult.TimedOut(timeout, true));
    }
    assertThat(asked(answering(ScriptedPod.nobody(), expected, Duration.ofSeconds(30))))
        .isInstanceOf(ProbeResult.Refused.class);
  }

  private static ProbeRequest answering(Destination pod, ReadinessProbeSpec.ExpectedAnswer answer,
      Duration timeout) {
    return new ProbeRequest(DialTarget.plain(pod), PortProtocol.TCP, "",
        ReadinessProbeSpec.answering(answer).within(timeout), timeout);
  }

  @Test
  void findsOutNothing_withoutTheNativeTransport() throws Exception {
    var refused = new LinkedBlockingQueue<Boolean>();
    client.awaitListener(loop, connecting(ScriptedPod.nobody(), PortProtocol.HTTP1), Duration.ZERO,
        Duration.ZERO, refused::add);

    assertThat(refused.poll(120, TimeUnit.SECONDS)).isFalse();
  }

  private static ProbeRequest connecting(Destination pod, PortProtocol protocol) {
    return new ProbeRequest(pod, protocol, "", "some.host", Map.of(),
        Duration.ofSeconds(30));
  }
}
