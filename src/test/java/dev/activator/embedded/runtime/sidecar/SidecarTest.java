package dev.activator.embedded.runtime.sidecar;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.LoopbackPorts;
import dev.activator.embedded.Sockets;
import dev.activator.embedded.runtime.policy.UserProbe;
import dev.activator.loop.NettyLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpMethod;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRoutes;
import reactor.netty.resources.LoopResources;

class SidecarTest {
  private static final LoopbackPorts PORTS = new LoopbackPorts(new SecureRandom());

  private final LoopResources loops = LoopResources.create("test", 1, true);
  private final HttpClient http = HttpClient.newHttpClient();
  private final Sinks.Empty<Void> release = Sinks.empty();
  private final SlowProcess slow = new SlowProcess();
  private final DisposableServer process = HttpServer.create().host("127.0.0.1").port(0)
      .protocol(HttpProtocol.HTTP11, HttpProtocol.H2C).route(this::routes).bindNow();
  private Sidecar sidecar;
  private int port;

  private void routes(HttpServerRoutes routes) {
    routes.get("/headers", (request, response) -> response.sendString(
        Mono.just(request.requestHeaders().entries().toString())));
    routes.post("/echo", (request, response) -> response.send(request.receive().retain()));
    routes.get("/stream", (request, response) -> response.send(
        Flux.just("first ").concatWith(release.asMono().cast(String.class))
            .concatWith(Mono.just("last")).map(SidecarTest::bytes),
        part -> true));
    routes.get("/broken", (request, response) -> response.sendString(
        Flux.just("first").concatWith(Mono.error(new IllegalStateException("broken")))));
    routes.get("/trailers", (request, response) -> response.header("Trailer", "grpc-status")
        .trailerHeaders(trailers -> trailers.set("grpc-status", "7"))
        .sendString(Flux.just("some ", "parts")));
    routes.get("/empty", (request, response) -> response.status(204).send());
    routes.ws("/ws", (in, out) -> out.send(in.receive().retain()));
  }

  @BeforeEach
  void start() throws Exception {
    open(0, process.port());
  }

  @AfterEach
  void stop() {
    release.tryEmitEmpty();
    slow.close();
    sidecar.close();
    http.shutdownNow();
    process.disposeNow();
    loops.disposeLater(Duration.ZERO, Duration.ofSeconds(30)).block();
  }

  @Test
  void saysSoWhereThereIsNoPortToListenOn() {
    var noPorts = new LoopbackPorts(new SecureRandom(), port -> {
      throw new SocketException("Too many open files");
    });
    var deaf = new Sidecar(Sockets.of(loops), new NettyLoop(Sockets.of(loops).loops().next()),
        noPorts, new SidecarSettings("pod", process.port(), 0,
            new UserProbe("", UserProbe.Attempts.once(Duration.ofSeconds(30)), 1)));
    var failed = new CompletableFuture<Throwable>();

    deaf.open(listening -> failed.completeExceptionally(new AssertionError(listening)),
        failed::complete);

    assertThat(failed).succeedsWithin(Duration.ofSeconds(30)).asString()
        .contains("Too many open files");
  }

  @Test
  void answersTheActivatorOnceTheProcessListens() throws Exception {
    var answer = send(request("/healthz").header("User-Agent", "Knative-Activator-Probe")
        .header("K-Network-Probe", "queue"));

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo("queue");
  }

  @Test
  void answersTheActivatorWith503WhileNothingListens() throws Exception {
    openWith(new SidecarSettings("pod", freePort(), 0,
        new UserProbe("", UserProbe.Attempts.once(Duration.ofSeconds(30)), 1)));

    var answer = send(request("/healthz").header("User-Agent", "Knative-Activator-Probe")
        .header("K-Network-Probe", "queue"));

    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.body()).isEmpty();
  }

  @Test
  void asksForThePathARevisionNames() throws Exception {
    openWith(new SidecarSettings("pod", process.port(), 0,
        new UserProbe("/empty", UserProbe.Attempts.once(Duration.ofSeconds(30)), 1)));
    assertThat(check()).isTrue();

    openWith(new SidecarSettings("pod", process.port(), 0,
        new UserProbe("/no-such-path", UserProbe.Attempts.once(Duration.ofSeconds(30)), 1)));
    assertThat(check()).isFalse();
  }

  @Test
  void sendsTheHashOfANetworkProbeBack() throws Exception {
    var answer = send(
        request("/any").header("K-Network-Probe", "probe").header("K-Network-Hash", "abc"));

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("K-Network-Hash")).contains("abc");
    assertThat(answer.body()).isEmpty();
  }

  @Test
  void refusesAProbeItDoesNotKnowInText() throws Exception {
    var answer = send(request("/any").header("User-Agent", "kube-probe/1.34")
        .header("K-Network-Probe", "test-probe"));

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).isEqualTo("unexpected probe header value: test-probe\n");
    assertThat(answer.headers().firstValue("Content-Type")).contains("text/plain; charset=utf-8");
    assertThat(answer.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
  }

  @Test
  void showsTheProcessTheHostTheCallerAskedFor() throws Exception {
    var answer = send(request("/headers").header("K-Original-Host", "a-better-host.com")
        .header("K-Proxy-Request", "activator").header("Knative-Serving-Revision", "rev")
        .header("Knative-Serving-Namespace", "ns").header("X-Forwarded-For", "10.1.2.3"));

    assertThat(answer.body())
        .contains("Host=a-better-host.com", "X-Forwarded-For=10.1.2.3, 127.0.0.1",
            "Forwarded=for=10.1.2.3")
        .doesNotContain("K-Original-Host", "Knative-Serving");
  }

  @ParameterizedTest
  @EnumSource(value = HttpProtocol.class, names = {"HTTP11", "H2C"})
  void passesLargeBodiesBothWays(HttpProtocol protocol) {
    String body = "0123456789".repeat(300_000);

    var echoed = client(protocol).request(HttpMethod.POST).uri("/echo")
        .send((request, out) -> out.sendString(Flux.just(body, body)))
        .responseContent().aggregate().asString().block(Duration.ofSeconds(30));

    assertThat(echoed).isEqualTo(body + body);
  }

  @ParameterizedTest
  @EnumSource(value = HttpProtocol.class, names = {"HTTP11", "H2C"})
  void passesTrailers(HttpProtocol protocol) {
    var trailer = client(protocol).get().uri("/trailers")
        .responseSingle((response, body) -> body.asString().then(response.trailerHeaders()))
        .block(Duration.ofSeconds(30));

    assertThat(trailer.get("grpc-status")).isEqualTo("7");
  }

  @Test
  void passesEachPartOfAResponseWhenItComes() throws Exception {
    var answer = http.send(request("/stream").build(), BodyHandlers.ofInputStream());

    try (InputStream body = answer.body()) {
      assertThat(new String(body.readNBytes(6), StandardCharsets.UTF_8)).isEqualTo("first ");
      release.tryEmitEmpty();
      assertThat(new String(body.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("last");
    }
  }

  @Test
  void abortsWhatTheProcessAborts() {
    assertThatThrownBy(() -> send(request("/broken"))).isInstanceOf(java.io.IOException.class);
  }

  @Test
  void serves200RequestsOneAfterTheOther() throws Exception {
    for (int i = 0; i < 200; i++) {
      var answer = send(request("/echo").POST(BodyPublishers.ofString("n" + i)));
      assertThat(answer.body()).isEqualTo("n" + i);
    }
  }

  @Test
  void servesManyCallersOneAtATime() throws Exception {
    open(1, process.port());
    for (int round = 0; round < 50; round++) {
      var answers = new ArrayList<CompletableFuture<HttpResponse<String>>>();
      for (int i = 0; i < 10; i++) {
        answers.add(http.sendAsync(
            request("/echo").POST(BodyPublishers.ofString("n" + i)).build(),
            BodyHandlers.ofString()));
      }
      for (int i = 0; i < 10; i++) {
        assertThat(answers.get(i).get(30, SECONDS).body()).isEqualTo("n" + i);
      }
    }
  }

  @Test
  void saysThatTheProcessDoesNotAnswer() throws Exception {
    open(0, freePort());

    var answer = send(request("/echo").POST(BodyPublishers.ofString("lost")));

    assertThat(answer.statusCode()).isEqualTo(502);
    assertThat(answer.body()).isEqualTo("the process does not answer\n");
  }

  @Test
  void refusesWhatFitsNeitherIntoTheProcessNorIntoTheQueue() throws Exception {
    // given a process for one at a time, one request in it, ten that wait
    open(1, slow.port());
    var held = new ArrayList<CompletableFuture<HttpResponse<String>>>();
    for (int i = 0; i < 12; i++) {
      held.add(http.sendAsync(request("/slow").build(), BodyHandlers.ofString()));
    }

    // when a twelfth arrives, then one of them is refused, and a probe is answered all the same
    var first = CompletableFuture.anyOf(held.toArray(CompletableFuture[]::new)).get(30, SECONDS);
    var refused = (HttpResponse<?>) first;
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.body()).isEqualTo("pending request queue full\n");
    await(() -> slow.arrived() == 1);
    assertThat(send(request("/").header("User-Agent", "kube-probe/1").header("K-Network-Probe",
        "queue")).statusCode()).isEqualTo(200);

    // and when the process goes on, then all others are served
    slow.goOn();
    var statuses = new ArrayList<Integer>();
    for (var answer : held) {
      statuses.add(answer.get(30, SECONDS).statusCode());
    }
    assertThat(statuses.stream().filter(status -> status == 200)).hasSize(11);
    assertThat(slow.arrived()).isEqualTo(11);
  }

  @Test
  void joinsTheConnectionsOfAWebSocket() throws Exception {
    var echoed = new CompletableFuture<String>();
    var socket = http.newWebSocketBuilder()
        .buildAsync(URI.create("ws://127.0.0.1:" + port + "/ws"), new WebSocket.Listener() {
          @Override
          public CompletionStage<?> onBinary(WebSocket socket, java.nio.ByteBuffer data,
              boolean last) {
            echoed.complete(StandardCharsets.UTF_8.decode(data).toString());
            return CompletableFuture.completedFuture(null);
          }

          @Override
          public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            echoed.complete(data.toString());
            return CompletableFuture.completedFuture(null);
          }
        }).get(30, SECONDS);

    socket.sendText("hello", true).get(30, SECONDS);

    assertThat(echoed.get(30, SECONDS)).isEqualTo("hello");
  }

  @Test
  void drainsOnceWhatRunsHasEnded() throws Exception {
    // given a request under way
    open(0, slow.port());
    var running = http.sendAsync(request("/slow").build(), BodyHandlers.ofString());
    await(() -> slow.arrived() == 1);
    var drained = new CountDownLatch(1);

    // when the sidecar drains, then probes fail, requests do not, and it is not done yet
    sidecar.drain(Duration.ofSeconds(30), drained::countDown);
    var probe = send(
        request("/").header("User-Agent", "kube-probe/1").header("K-Network-Probe", "queue"));
    assertThat(probe.statusCode()).isEqualTo(503);
    assertThat(probe.body()).isEqualTo("shutting down\n");
    var late = http.sendAsync(request("/").build(), BodyHandlers.ofString());
    await(() -> slow.arrived() == 2);
    assertThat(drained.getCount()).isEqualTo(1);

    // and when the request ends, then it is
    slow.goOn();
    assertThat(running.get(30, SECONDS).body()).isEqualTo("slow");
    assertThat(late.get(30, SECONDS).body()).isEqualTo("slow");
    assertThat(drained.await(30, SECONDS)).isTrue();
  }

  @Test
  void aCallerThatGoesAwayGivesItsSlotBack() throws Exception {
    // given a process for one at a time, and a request that never ends
    open(1, slow.port());
    var running = http.sendAsync(request("/slow").build(), BodyHandlers.ofString());
    await(() -> slow.arrived() == 1);

    // when its caller goes away
    running.cancel(true);

    // then the next one's turn comes
    http.sendAsync(request("/").build(), BodyHandlers.ofString());
    await(() -> slow.arrived() == 2);
  }

  private void open(int containerConcurrency, int processPort) throws Exception {
    openWith(new SidecarSettings("pod", processPort, containerConcurrency, UserProbe.TCP));
  }

  private void openWith(SidecarSettings settings) throws Exception {
    if (sidecar != null) {
      sidecar.close();
    }
    var sockets = Sockets.of(loops);
    var listening = new CompletableFuture<Integer>();
    sidecar = new Sidecar(sockets, new NettyLoop(sockets.loops().next()), PORTS, settings);
    sidecar.open(listening::complete, listening::completeExceptionally);
    port = listening.get(30, SECONDS);
  }

  private boolean check() throws Exception {
    var ready = new CompletableFuture<Boolean>();
    sidecar.check(ready::complete);
    return ready.get(30, SECONDS);
  }

  private static void await(java.util.concurrent.Callable<Boolean> condition) {
    org.awaitility.Awaitility.await().atMost(Duration.ofSeconds(30)).until(condition);
  }

  private reactor.netty.http.client.HttpClient client(HttpProtocol protocol) {
    var client = reactor.netty.http.client.HttpClient.newConnection()
        .baseUrl("http://127.0.0.1:" + port);
    return protocol == HttpProtocol.H2C ? client.protocol(protocol) : client;
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .version(HttpClient.Version.HTTP_1_1).timeout(Duration.ofSeconds(60));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return http.send(request.build(), BodyHandlers.ofString());
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
  }

  private static int freePort() throws Exception {
    try (var socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
