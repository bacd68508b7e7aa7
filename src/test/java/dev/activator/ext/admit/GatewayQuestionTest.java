package dev.activator.ext.admit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.activator.proxy.ProxyServer;
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
import java.time.Duration;
import java.util.List;
import java.util.ArrayList;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.netty.resources.LoopResources;

/** Questions of gateways, over sockets. */
class GatewayQuestionTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final Destination POD = new Destination("10.1.1.1", 8080);
  private static final MethodDescriptor<CheckRequest, CheckResponse> CHECK = MethodDescriptor
      .<CheckRequest, CheckResponse>newBuilder().setType(MethodDescriptor.MethodType.UNARY)
      .setFullMethodName("envoy.service.auth.v3.Authorization/Check")
      .setRequestMarshaller(ProtoUtils.marshaller(CheckRequest.getDefaultInstance()))
      .setResponseMarshaller(ProtoUtils.marshaller(CheckResponse.getDefaultInstance())).build();

  private final LoopResources resources = LoopResources.create("admit", 2, true);
  private final AtomicInteger counted = new AtomicInteger();
  private LoopGroup loops;
  private Throttler throttler;
  private HeldRequestBytes held;
  private TestRevisions revisions;
  private RevisionReadySince pods;
  private ProxyServer proxy;
  private final List<GatewayHandover> handovers = new ArrayList<>();
  private int port;

  @BeforeEach
  void open() throws IOException {
    loops = new LoopGroup(resources.onServer(true));
    revisions = new TestRevisions(loops::loopFor, Revision.of(WEB, 1));
    var router = new Router(new RevisionResolver.Hosts((host, _, _) -> host.startsWith("web.shop")
        ? WEB
        : null), _ -> null, revisions.live, Readiness.Ready::new);
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
    port = listen(0, Duration.ofSeconds(60));
  }

  private int listen(int on, Duration questionTimeout) throws IOException {
    return AdmitConfiguration.listen(proxy, "127.0.0.1", on, loop -> {
      handovers.add(new GatewayHandover(loop, pods, revisions.live, Duration.ofMillis(1),
          questionTimeout));
      return handovers.getLast();
    });
  }

  @AfterEach
  void close() {
    proxy.close();
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
    try (var gateway = RawPeer.connect(port)) {
      gateway.sendHead(head);
      return answer(gateway);
    }
  }

  @Test
  void aQuestionWaitsForThePod() throws IOException {
    try (var gateway = RawPeer.connect(port)) {
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
    try (var gateway = RawPeer.connect(port)) {
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
  void refusesWhatWaitsForReadiness_andClosesConnections_whenTheProxyDrains() throws Exception {
    throttler.onDestinations(HealthyDestinations.pods(WEB, DestinationSet.of(POD)));
    try (var gateway = RawPeer.connect(port)) {
      gateway.sendHead("GET /admit/host HTTP/1.1", "Host: web.shop");
      await().untilAtomic(counted, org.hamcrest.Matchers.is(1));

      var drained = proxy.drain().toCompletableFuture();
      handovers.forEach(each -> each.stopAfter(Duration.ZERO));

      var head = answer(gateway);
      assertThat(head.start()).startsWith("HTTP/1.1 503 ");
      assertThat(head.header("K-Activator-Reason")).isEqualTo("shutting-down");
      gateway.awaitEnd();
      drained.join();
    }
  }

  @Test
  void theLargeHeadOfAQuestionIsCountedWhileItWaits_andTooManyAreRefused() throws IOException {
    var gateways = new ArrayList<RawPeer>();
    for (int i = 0; i < 8; i++) {
      var gateway = RawPeer.connect(port);
      gateways.add(gateway);
      sendLargeQuestion(gateway);
      awaitQueued(i + 1);
    }
    assertThat(held.total()).isBetween(480_000L, 520_000L);

    try (var gateway = RawPeer.connect(port)) {
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
    // A quarter of the bound, for two loops: the second message on a loop is too much.
    try (var gateway = RawHttp2.caller(RawPeer.connect(port))) {
      for (int stream = 1; stream <= 5; stream += 2) {
        checks(gateway, stream);
        for (int part = 0; part < 4; part++) {
          gateway.frame(RawHttp2.DATA, 0, stream, new byte[15_000]);
        }
      }

      assertThat(gateway.body(1)).contains("431");
    }
    await().until(() -> held.total() == 0);
  }

  private static void checks(RawHttp2 gateway, int stream) throws IOException {
    gateway.headers(stream, false, ":method", "POST", ":scheme", "http", ":path",
        ExtAuthzCodec.PATH, ":authority", "activator", "content-type", "application/grpc");
  }

  @Test
  void aTakenPortIsNamed() {
    assertThatThrownBy(() -> listen(port, Duration.ofSeconds(60))).isInstanceOf(IOException.class)
        .hasMessageContaining("activator.admit.port is " + port);
  }

  @Test
  void answersOverHttp1_whenAGatewayOffersToSwitchToHttp2() throws IOException {
    assertThat(ask("GET /admit HTTP/1.1", "Host: a", "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c", "HTTP2-Settings: AAMAAABk").start()).startsWith("HTTP/1.1 404 ");
  }

  @Test
  void aCheckOverHttp2IsRefused_whenItsMessageIsNotCompleteInTime() throws IOException {
    try (var gateway = RawHttp2.caller(RawPeer.connect(listen(0, Duration.ofMillis(1))))) {
      checks(gateway, 1);

      assertThat(gateway.body(1)).contains("the question did not come in time");
    }
  }

  @Test
  void aRefusalKeepsItsStatus_whenTheOriginalRequestIsGrpcAndTheQuestionIsOverHttp2()
      throws IOException {
    try (var gateway = RawHttp2.caller(RawPeer.connect(port))) {
      gateway.headers(1, true, ":method", "POST", ":scheme", "http", ":path", "/admit/host/a",
          ":authority", "other", "content-type", "application/grpc");

      assertThat(gateway.response(1)).startsWith("404");

      gateway.headers(3, true, ":method", "POST", ":scheme", "http", ":path", "/admit",
          ":authority", "web.shop", "content-type", "application/grpc");

      assertThat(gateway.response(3)).startsWith("404");
    }
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
    var channel = ManagedChannelBuilder.forAddress("127.0.0.1", port).usePlaintext()
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
    var channel = ManagedChannelBuilder.forAddress("127.0.0.1", port).usePlaintext()
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
    var channel = ManagedChannelBuilder.forAddress("127.0.0.1", port).usePlaintext()
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
