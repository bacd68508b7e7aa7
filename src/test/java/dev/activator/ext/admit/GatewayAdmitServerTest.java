package dev.activator.ext.admit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.activator.proxy.AbusiveConnectionCounter;
import dev.activator.proxy.ProxyServer;
import ch.qos.logback.classic.Level;
import dev.activator.testing.TestRevisions;
import dev.activator.lifecycle.Readiness;
import dev.activator.loop.LoopGroup;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.RequestCounts;
import dev.activator.testing.LogLines;
import dev.activator.testing.Make;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.throttle.Throttler;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.wire.CheckRequest;
import dev.activator.wire.CheckResponse;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.HashSet;
import java.util.Set;
import java.util.ArrayList;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.netty.resources.LoopResources;

/** Gateways that ask, over sockets. */
class GatewayAdmitServerTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final Destination POD = new Destination("10.1.1.1", 8080);
  private static final MethodDescriptor<CheckRequest, CheckResponse> CHECK = MethodDescriptor
      .<CheckRequest, CheckResponse>newBuilder().setType(MethodDescriptor.MethodType.UNARY)
      .setFullMethodName("envoy.service.auth.v3.Authorization/Check")
      .setRequestMarshaller(ProtoUtils.marshaller(CheckRequest.getDefaultInstance()))
      .setResponseMarshaller(ProtoUtils.marshaller(CheckResponse.getDefaultInstance())).build();

  private final LoopResources resources = LoopResources.create("admit", 2, true);
  private final AtomicInteger counted = new AtomicInteger();
  private Readiness readiness = new Readiness.Ready();
  private LoopGroup loops;
  private Throttler throttler;
  private HeldRequestBytes held;
  private TestRevisions revisions;
  private RevisionReadySince pods;
  private ProxyServer proxy;
  private GatewayAdmitServer server;

  @BeforeEach
  void open() throws IOException {
    loops = new LoopGroup(resources.onServer(true));
    revisions = new TestRevisions(loops::loopFor, Revision.of(WEB, 1));
    var router = new Router(new RevisionResolver.Hosts((host, _, _) -> host.startsWith("web.shop")
        ? WEB
        : null), _ -> null, revisions.live, () -> readiness);
    throttler = Make.throttler(revisions.live, 10);
    var upstreams = Quiescence
        .watch(new ConnectionPoolsByLoop(loops, IdleLimits.DEFAULT, new Random(1),
            new PodTls(TestRevisions.unused())));
    held = Quiescence.watch(new HeldRequestBytes(new HeldMemoryLimit(1 << 20)));
    proxy = new ProxyServer(resources.onServerSelect(true), resources.onServer(true), loops,
        Duration.ofSeconds(60),
        loop -> Dispatchers.with(loop, router, throttler::admit, upstreams.of(loop))
            .counter(new Counter()).held(held.share()).build());
    pods = new RevisionReadySince(revisions.live, Duration.ZERO, System::nanoTime);
    server = new GatewayAdmitServer(proxy,
        new GatewayAdmitServer.Settings("127.0.0.1", 0, Duration.ofMillis(1),
            Duration.ofSeconds(60)),
        pods, revisions.live, resources,
        () -> readiness instanceof Readiness.Ready, throttler::rejectQueued);
    server.start();
  }

  @AfterEach
  void close() {
    server.stop();
    revisions.remove(WEB);
    resources.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block();
  }

  private final class Counter extends RequestCounts {
    @Override
    public void arrived(RevisionId revision) {
      counted.incrementAndGet();
    }

    @Override
    public void left(RevisionId revision) {
      counted.decrementAndGet();
    }
  }

  private void isUp() {
    throttler.onDestinations(HealthyDestinations.pods(WEB, DestinationSet.of(POD)));
    pods.listed(
        new PrivateEndpoints(WEB, new PodsByReadiness(DestinationSet.of(POD), DestinationSet.NONE),
            PodsByReadiness.NONE));
  }

  private void awaitQueued(int number) {
    await().until(() -> {
      var view = throttler.view(WEB);
      return (view == null ? 0 : view.queued()) == number;
    });
  }

  private RawPeer.Head answer(RawPeer gateway) throws IOException {
    var head = gateway.readHead();
    gateway.readBody(head);
    return head;
  }

  private RawPeer.Head ask(String... head) throws IOException {
    try (var gateway = RawPeer.connect(server.port())) {
      gateway.sendHead(head);
      return answer(gateway);
    }
  }

  @Test
  void aQuestionWaitsForThePod() throws IOException {
    try (var gateway = RawPeer.connect(server.port())) {
      gateway.sendHead("GET /admit/original-url HTTP/1.1", "Host: activator",
          "X-Original-URL: http://web.shop/a");
      awaitQueued(1);

      isUp();

      var head = answer(gateway);
      assertThat(head.start()).startsWith("HTTP/1.1 200 ");
      assertThat(head.header("K-Activator-Pod")).isEqualTo("10.1.1.1:8080");
      // The connection is used again.
      gateway.sendHead("GET /admit/forwarded HTTP/1.1", "Host: activator",
          "X-Forwarded-Host: web.shop", "X-Forwarded-Uri: /a", "X-Forwarded-Method: POST");
      assertThat(answer(gateway).start()).startsWith("HTTP/1.1 200 ");
    }
    await().untilAtomic(counted, org.hamcrest.Matchers.is(0));
  }

  @Test
  void aGatewayThatLeavesGivesUpItsPlace() throws IOException {
    try (var gateway = RawPeer.connect(server.port())) {
      gateway.sendHead("PUT /admit/host/a?b HTTP/1.1", "Host: web.shop", "Content-Length: 0");
      awaitQueued(1);
    }

    awaitQueued(0);
    await().untilAtomic(counted, org.hamcrest.Matchers.is(0));
  }

  @Test
  void refusesAsTheProxyDoes_andSaysWhatIsWrongWithAQuestion() throws IOException {
    var unknown = ask("GET /admit/host HTTP/1.1", "Host: other");
    assertThat(unknown.start()).startsWith("HTTP/1.1 404 ");
    assertThat(unknown.header("K-Activator-Reason")).isEqualTo("unknown-host");

    assertThat(ask("GET /admit/original-url HTTP/1.1", "Host: web.shop").start())
        .startsWith("HTTP/1.1 400 ");
    assertThat(ask("GET /admit HTTP/1.1", "Host: web.shop").start()).startsWith("HTTP/1.1 404 ");
    assertThat(ask("POST /envoy.service.auth.v3.Authorization/Check HTTP/1.1", "Host: web.shop",
        "Content-Length: 0").start()).startsWith("HTTP/1.1 415 ");
  }

  @Test
  void refusesWhatWaitsWhenItStops() throws Exception {
    try (var gateway = RawPeer.connect(server.port())) {
      gateway.sendHead("GET /admit/host HTTP/1.1", "Host: web.shop");
      awaitQueued(1);
      readiness = new Readiness.NotReady("draining");

      var stopping = CompletableFuture.runAsync(server::stop);

      var head = answer(gateway);
      assertThat(head.start()).startsWith("HTTP/1.1 503 ");
      assertThat(head.header("K-Activator-Reason")).isEqualTo("shutting-down");
      gateway.awaitEnd();
      stopping.join();
    }
  }

  @Test
  void refusesWhatWaitsForReadinessWhenItStops() throws Exception {
    throttler.onDestinations(HealthyDestinations.pods(WEB, DestinationSet.of(POD)));
    try (var gateway = RawPeer.connect(server.port())) {
      gateway.sendHead("GET /admit/host HTTP/1.1", "Host: web.shop");
      await().untilAtomic(counted, org.hamcrest.Matchers.is(1));
      readiness = new Readiness.NotReady("draining");

      var stopping = CompletableFuture.runAsync(server::stop);

      var head = answer(gateway);
      assertThat(head.start()).startsWith("HTTP/1.1 503 ");
      assertThat(head.header("K-Activator-Reason")).isEqualTo("shutting-down");
      gateway.awaitEnd();
      stopping.join();
    }
  }

  @Test
  void theLargeHeadOfAQuestionIsCountedWhileItWaits_andTooManyAreRefused() throws IOException {
    var gateways = new ArrayList<RawPeer>();
    for (int i = 0; i < 8; i++) {
      var gateway = RawPeer.connect(server.port());
      gateways.add(gateway);
      sendLargeQuestion(gateway);
      awaitQueued(i + 1);
    }
    assertThat(held.total()).isBetween(480_000L, 520_000L);

    try (var gateway = RawPeer.connect(server.port())) {
      sendLargeQuestion(gateway);
      var head = answer(gateway);
      assertThat(head.start()).startsWith("HTTP/1.1 431 ");
      assertThat(head.header("K-Activator-Reason")).isEqualTo("head-too-large");
    }

    for (var gateway : gateways) {
      gateway.close();
    }
    await().until(() -> held.total() == 0);
  }

  private static void sendLargeQuestion(RawPeer gateway) throws IOException {
    gateway.sendHead("GET /admit/host HTTP/1.1", "Host: web.shop",
        "X-Large: " + "y".repeat(60_000));
  }

  @Test
  void aCheckIsCountedWhileItComes_andTheOldestIsRefusedIfTheyHoldTooMuch() throws IOException {
    var gateways = new ArrayList<RawPeer>();
    // A quarter of the bound, for two loops: the second message on a loop is too much.
    for (int i = 0; i < 4; i++) {
      var gateway = RawPeer.connect(server.port());
      gateways.add(gateway);
      gateway.sendHead("POST /envoy.service.auth.v3.Authorization/Check HTTP/1.1",
          "Host: activator", "Content-Type: application/grpc", "Content-Length: 200000");
      gateway.send("y".repeat(100_000));
    }

    await().until(() -> held.total() > 100_000);
    var head = answer(gateways.getFirst());
    assertThat(head.start()).startsWith("HTTP/1.1 200 ");
    for (var gateway : gateways) {
      gateway.close();
    }
    await().until(() -> held.total() == 0);
  }

  @Test
  void makesGatewaysLeave_onceItIsNotReady() throws IOException {
    isUp();
    readiness = new Readiness.NotReady("draining");

    assertThat(ask("GET /admit/host HTTP/1.1", "Host: web.shop").header("Connection"))
        .isEqualTo("close");
  }

  @Test
  void makesGatewaysOverHttp2Leave_onceItIsNotReady() throws IOException {
    isUp();
    try (var gateway = RawHttp2.caller(RawPeer.connect(server.port()))) {
      asks(gateway, 1);
      assertThat(gateway.read(RawHttp2.HEADERS).field(":status")).isEqualTo("200");
      readiness = new Readiness.NotReady("draining");

      asks(gateway, 3);
      asks(gateway, 5);

      var frames = new ArrayList<RawHttp2.Frame>();
      while (frames.stream().filter(one -> one.ends() && one.stream() > 1).count() < 2) {
        frames.add(gateway.read());
      }
      assertThat(frames).filteredOn(frame -> frame.type() == RawHttp2.GOAWAY).singleElement()
          .satisfies(frame -> {
            assertThat(frame.number()).isZero();
            assertThat(ByteBuffer.wrap(frame.payload()).getInt()).isEqualTo(Integer.MAX_VALUE);
          });
      assertThat(frames).filteredOn(frame -> frame.type() == RawHttp2.HEADERS)
          .extracting(frame -> frame.field(":status")).containsExactly("200", "200");
    }
  }

  private static void asks(RawHttp2 gateway, int stream) throws IOException {
    gateway.headers(stream, true, ":method", "GET", ":scheme", "http", ":path", "/admit/host",
        ":authority", "web.shop");
  }

  @Test
  void aTakenPortIsNamed() throws IOException {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var other = new GatewayAdmitServer(proxy, new GatewayAdmitServer.Settings("127.0.0.1",
          taken.getLocalPort(), Duration.ofSeconds(1), Duration.ofSeconds(60)), pods,
          revisions.live,
          resources,
          () -> true, () -> {
          });

      assertThatThrownBy(other::start).isInstanceOf(IOException.class)
          .hasMessageContaining("activator.admit.port is " + taken.getLocalPort());
    }
  }

  private GatewayAdmitServer impatient(Duration headTimeout) throws IOException {
    var impatient = new GatewayAdmitServer(proxy, new GatewayAdmitServer.Settings("127.0.0.1", 0,
        Duration.ofMillis(1), headTimeout), pods, revisions.live, resources, () -> true, () -> {
        });
    impatient.start();
    return impatient;
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "GET /admit/host HTTP/1.1\r\nHost: ", "PRI * HTTP/2.0\r\n"})
  void aConnectionEnds_whenItsFirstHeadIsNotCompleteInTime(String begun) throws IOException {
    var impatient = impatient(Duration.ofMillis(1));
    try (var gateway = RawPeer.connect(impatient.port())) {
      gateway.send(begun);

      gateway.awaitEnd();
    } finally {
      impatient.stop();
    }
  }

  /** Whatever is in the read with the end of the question before, and however many reads that took. */
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "GET /admit HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n | G",
      "GET /admit HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n | GET /admit HTTP/1.1\\r\\nHost: a\\r\\n",
      "POST /admit HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 3\\r\\n\\r\\nab\\n | GET /adm",
      "POST /admit HTTP/1.1\\r\\nHost: a\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n1\\r\\na\\r\\n0\\r\\n\\r\\n | G"})
  void aConnectionEnds_whenALaterHeadIsNotCompleteInTime(String question, String next)
      throws IOException {
    var impatient = impatient(Duration.ofSeconds(3));
    try (var gateway = RawPeer.connect(impatient.port())) {
      gateway.send((question + next).replace("\\r", "\r").replace("\\n", "\n"));

      assertThat(answer(gateway).start()).startsWith("HTTP/1.1 404 ");
      gateway.awaitEnd();
    } finally {
      impatient.stop();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET /admit HTTP/1.1\r\nHost: a\r\n\r\n",
      "POST /admit HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na\r\n"})
  void aConnectionStays_whenNoOtherHeadHasBegun(String question) throws IOException {
    var impatient = impatient(Duration.ofSeconds(3));
    try (var idle = RawPeer.connect(impatient.port());
        var late = RawPeer.connect(impatient.port())) {
      idle.send(question + question);
      answer(idle);
      answer(idle);

      late.send(question + "G");
      answer(late);
      late.awaitEnd();

      // It was idle for longer than the other had.
      idle.send(question);
      assertThat(answer(idle).start()).startsWith("HTTP/1.1 404 ");
    } finally {
      impatient.stop();
    }
  }

  @Test
  void aConnectionOfHttp2Ends_whenAHeadIsNotCompleteInTime() throws IOException {
    var impatient = impatient(Duration.ofSeconds(3));
    try (var gateway = RawHttp2.caller(RawPeer.connect(impatient.port()));
        var lines = LogLines.of(AbusiveConnectionCounter.class)) {
      gateway.headers(1, true, ":method", "GET", ":scheme", "http", ":path", "/admit",
          ":authority", "activator");
      assertThat(gateway.response(1)).startsWith("404 ");
      gateway.frame(RawHttp2.HEADERS, RawHttp2.END_STREAM, 3,
          RawHttp2.encode(":method", "GET", ":scheme", "http", ":path", "/admit"));
      gateway.frame(RawHttp2.CONTINUATION, 0, 3, RawHttp2.encode("x", "y"));

      gateway.peer().awaitEnd();
      await().until(() -> held.total() == 0);
      await().untilAsserted(
          () -> assertThat(about(Set.of(gateway.peer().localPort()), lines)).hasSize(1));
    } finally {
      impatient.stop();
    }
  }

  /** Without those of other tests, which run at the same time. */
  private static List<String> about(Set<Integer> ports, LogLines lines) {
    return lines.at(Level.WARN).stream()
        .filter(line -> ports.stream().anyMatch(port -> line.contains("127.0.0.1:" + port)))
        .toList();
  }

  @Test
  void manyLateHeadsAreOneLine() throws Exception {
    var impatient = impatient(Duration.ofMillis(1));
    try (var lines = LogLines.of(AbusiveConnectionCounter.class);
        var others = LogLines
            .of(Class.forName("reactor.netty.http.server.HttpServerOperations"))) {
      var ports = new HashSet<Integer>();
      for (int i = 0; i < 5; i++) {
        try (var gateway = RawPeer.connect(impatient.port())) {
          ports.add(gateway.localPort());
          gateway.send("GET /admit/host HTTP/1.1\r\nHost: ");
          gateway.awaitEnd();
        }
      }

      assertThat(about(ports, lines)).hasSize(1);
      assertThat(about(ports, others)).isEmpty();
    } finally {
      impatient.stop();
    }
  }

  @Test
  void manyMalformedConnectionsOfHttp2AreOneLine() throws Exception {
    try (var lines = LogLines.of(AbusiveConnectionCounter.class)) {
      var ports = new HashSet<Integer>();
      for (int i = 0; i < 5; i++) {
        try (var gateway = RawPeer.connect(server.port())) {
          ports.add(gateway.localPort());
          var http2 = RawHttp2.caller(gateway);
          // It belongs to no stream.
          http2.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 0, RawHttp2.encode("a", "b"));
          gateway.awaitEnd();
        }
      }

      assertThat(about(ports, lines)).hasSize(1);
      assertThat(proxy.endedConnections().count(AbusiveConnectionCounter.Reason.OTHER_LIMIT))
          .isEqualTo(5);
    }
  }

  @Test
  void answersOverHttp1_whenAGatewayOffersToSwitchToHttp2() throws IOException {
    assertThat(ask("GET /admit HTTP/1.1", "Host: a", "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c", "HTTP2-Settings: AAMAAABk").start()).startsWith("HTTP/1.1 404 ");
  }

  @Test
  void aCheckOverHttp2IsRefused_whenItsMessageIsNotCompleteInTime() throws IOException {
    // In which it must also begin.
    var impatient = impatient(Duration.ofSeconds(3));
    try (var gateway = RawHttp2.caller(RawPeer.connect(impatient.port()))) {
      gateway.headers(1, false, ":method", "POST", ":scheme", "http", ":path", ExtAuthzCodec.PATH,
          ":authority", "activator", "content-type", "application/grpc");

      assertThat(gateway.body(1)).contains("the question did not come in time");
    } finally {
      impatient.stop();
    }
  }

  @Test
  void incompleteHeadsAreCounted_andTheOldestIsRefusedIfTheyHoldTooMuch() throws IOException {
    var gateways = new ArrayList<RawPeer>();
    // A quarter of the bound, for two loops: three heads on a loop are too much.
    for (int i = 0; i < 6; i++) {
      var gateway = RawPeer.connect(server.port());
      gateways.add(gateway);
      gateway.send("GET /admit/host HTTP/1.1\r\nHost: web.shop\r\nX: " + "y".repeat(60_000));
    }

    gateways.getFirst().awaitEnd();
    for (var gateway : gateways) {
      gateway.close();
    }
    await().until(() -> held.total() == 0);
  }

  private static CheckRequest check(String host, String... headers) {
    var http = CheckRequest.Http.newBuilder().setMethod("GET").setPath("/a?b").setHost(host);
    for (int i = 0; i < headers.length; i += 2) {
      http.putHeaders(headers[i], headers[i + 1]);
    }
    return CheckRequest.newBuilder().setAttributes(CheckRequest.Attributes.newBuilder()
        .setRequest(CheckRequest.Request.newBuilder().setHttp(http))).build();
  }

  @Test
  void answersEnvoyOverGrpc() {
    var channel = ManagedChannelBuilder.forAddress("127.0.0.1", server.port()).usePlaintext()
        .build();
    try {
      var unknown = call(channel, check("other"));
      assertThat(unknown.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND.value());
      assertThat(unknown.getDeniedResponse().getStatus().getCode()).isEqualTo(404);
      assertThat(unknown.getDeniedResponse().getHeadersList())
          .extracting(one -> Map.entry(one.getHeader().getKey(), one.getHeader().getValue()))
          .contains(Map.entry("K-Activator-Reason", "unknown-host"));

      var waiting = ClientCalls.futureUnaryCall(channel.newCall(CHECK, CallOptions.DEFAULT),
          check("web.shop:80", ":authority", "other", "x-forwarded-host", "other"));
      awaitQueued(1);
      isUp();
      assertThat(CompletableFuture.supplyAsync(() -> {
        try {
          return waiting.get();
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
      }).join()).satisfies(admitted -> {
        assertThat(admitted.hasOkResponse()).isTrue();
        assertThat(admitted.getStatus().getCode()).isZero();
      });
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void aCheckThatEnvoyCancelsGivesUpItsPlace() {
    var channel = ManagedChannelBuilder.forAddress("127.0.0.1", server.port()).usePlaintext()
        .build();
    try {
      var waiting = ClientCalls.futureUnaryCall(channel.newCall(CHECK, CallOptions.DEFAULT),
          check("web.shop"));
      awaitQueued(1);

      waiting.cancel(true);

      awaitQueued(0);
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void aMalformedCheckIsDenied_andTheStreamEnds() {
    var channel = ManagedChannelBuilder.forAddress("127.0.0.1", server.port()).usePlaintext()
        .build();
    try {
      var malformed = call(channel, check("web.shop", "bad name", "x"));
      assertThat(malformed.getDeniedResponse().getStatus().getCode()).isEqualTo(400);
      assertThat(call(channel, CheckRequest.getDefaultInstance()).getDeniedResponse().getStatus()
          .getCode()).isEqualTo(400);
      var huge = call(channel, check("web.shop", "x", "y".repeat(300_000)));
      assertThat(huge.getDeniedResponse().getBody()).contains("longer than");
    } catch (StatusRuntimeException e) {
      throw new AssertionError(e);
    } finally {
      channel.shutdownNow();
    }
  }

  private static CheckResponse call(ManagedChannel channel, CheckRequest request) {
    return ClientCalls.blockingUnaryCall(channel, CHECK, CallOptions.DEFAULT, request);
  }
}
