package dev.activator.ext.picker;

import static dev.activator.ext.picker.EnvoyMessages.get;
import static dev.activator.ext.picker.EnvoyMessages.pods;
import static dev.activator.ext.picker.EnvoyMessages.post;
import static dev.activator.ext.picker.EnvoyMessages.requestBody;
import static dev.activator.ext.picker.EnvoyMessages.responseBody;
import static dev.activator.ext.picker.EnvoyMessages.responseHeaders;
import static dev.activator.ext.picker.EnvoyMessages.streamed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Message;
import dev.activator.lifecycle.Readiness;
import dev.activator.loop.LoopGroup;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Authority;
import dev.activator.testing.LogLines;
import dev.activator.testing.Make;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.TestRevisions;
import dev.activator.throttle.Throttler;
import dev.activator.wire.HealthCheckRequest;
import dev.activator.wire.HealthCheckResponse;
import dev.activator.wire.HealthCheckResponse.ServingStatus;
import dev.activator.wire.ProcessingRequest;
import dev.activator.wire.ProcessingResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.netty.resources.LoopResources;

/** Gateways that ask for pods, over sockets, message by message as Envoy does. */
class PickerServerTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final Destination POD = new Destination("10.1.1.1", 8080);
  private static final String PROCESS = "envoy.service.ext_proc.v3.ExternalProcessor/Process";
  private static final int MANY = 1_000;
  private static final short INITIAL_WINDOW_SIZE = 4;

  private final LoopResources resources = LoopResources.create("picker", 2, true);
  private volatile Readiness readiness = new Readiness.Ready();
  private Throttler throttler;
  private TestRevisions revisions;
  private ProxyServer proxy;
  private PickerTls tls = new PickerTls.Off();
  private PickerServer server;
  private ManagedChannel channel;

  @BeforeEach
  void open() throws IOException {
    var loops = new LoopGroup(resources.onServer(true));
    revisions = new TestRevisions(loops::loopFor, Revision.of(WEB, 1));
    var router = new Router(
        new RevisionResolver.Hosts((host, _, _) -> host.startsWith("web.shop") ? WEB : null),
        _ -> null, revisions.live, () -> readiness);
    throttler = Make.throttler(revisions.live, 10_000);
    proxy = new ProxyServer(resources.onServerSelect(true), resources.onServer(true), loops,
        Duration.ofSeconds(60),
        loop -> Dispatchers.with(loop, router, throttler::admit, new FakePod()).build());
    server = server(0, Duration.ofSeconds(5));
    server.start();
    channel = ManagedChannelBuilder.forAddress("127.0.0.1", server.port()).usePlaintext().build();
  }

  private PickerServer server(int port, Duration drainTimeout) {
    return new PickerServer(proxy,
        new PickerServer.Settings("127.0.0.1", port, 0, Duration.ZERO, drainTimeout, tls),
        resources, throttler, new PickerCounts(), () -> readiness instanceof Readiness.Ready);
  }

  @AfterEach
  void close() {
    channel.shutdownNow();
    server.stop();
    revisions.remove(WEB);
    resources.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block();
  }

  private void isUp(int limit) {
    throttler.onRevision(revisions.put(Revision.of(WEB, limit)));
    throttler.onDestinations(HealthyDestinations.pods(WEB, DestinationSet.of(POD)));
  }

  private int queued() {
    var view = throttler.view(WEB);
    return view == null ? 0 : view.queued();
  }

  private int inFlight() {
    return Objects.requireNonNull(throttler.view(WEB)).inFlight();
  }

  private static <Q extends Message, A extends Message> MethodDescriptor<Q, A> method(
      MethodType type, String name, Q question, A answer) {
    return MethodDescriptor.<Q, A>newBuilder().setType(type).setFullMethodName(name)
        .setRequestMarshaller(ProtoUtils.marshaller(question))
        .setResponseMarshaller(ProtoUtils.marshaller(answer)).build();
  }

  /** One stream of a gateway. */
  private final class Stream extends ClientCall.Listener<ProcessingResponse> {
    private final BlockingQueue<ProcessingResponse> answers = new LinkedBlockingQueue<>();
    private final CompletableFuture<Status> end = new CompletableFuture<>();
    private final ClientCall<ProcessingRequest, ProcessingResponse> call = channel
        .newCall(method(MethodType.BIDI_STREAMING, PROCESS, ProcessingRequest.getDefaultInstance(),
            ProcessingResponse.getDefaultInstance()), CallOptions.DEFAULT);

    Stream(ProcessingRequest... messages) {
      call.start(this, new Metadata());
      call.request(Integer.MAX_VALUE);
      send(messages);
    }

    void send(ProcessingRequest... messages) {
      for (var message : messages) {
        call.sendMessage(message);
      }
    }

    ProcessingResponse answer() throws InterruptedException {
      return Objects.requireNonNull(answers.poll(60, TimeUnit.SECONDS), "no answer");
    }

    Status end() {
      return end.orTimeout(60, TimeUnit.SECONDS).join();
    }

    @Override
    public void onMessage(ProcessingResponse message) {
      answers.add(message);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      end.complete(status);
    }
  }

  @Test
  void aRequestWaitsForThePod_andHoldsItUntilTheResponseEnds() throws Exception {
    var first = new Stream(post(), requestBody("a", false));
    await().until(() -> queued() == 1);

    isUp(1);

    assertThat(pods(first.answer())).containsExactly("10.1.1.1:8080");
    assertThat(streamed(first.answer())).isEqualTo("a");
    var second = new Stream(get());
    await().until(() -> queued() == 1);
    first.send(requestBody("b", true), responseHeaders(200, false), responseBody("c", false),
        responseBody("", true));
    assertThat(streamed(first.answer())).isEqualTo("b|");
    assertThat(first.answer().hasResponseHeaders()).isTrue();
    assertThat(streamed(first.answer())).isEqualTo("c");
    assertThat(streamed(first.answer())).isEqualTo("|");
    assertThat(pods(second.answer())).containsExactly("10.1.1.1:8080");

    first.call.halfClose();
    second.call.cancel("the caller left", null);
    assertThat(first.end().getCode()).isEqualTo(Status.Code.OK);
    await().until(() -> inFlight() == 0);
  }

  @Test
  void aLargeBodyPassesThrough() throws Exception {
    isUp(1);
    var stream = new Stream(post());
    pods(stream.answer());
    var part = "x".repeat(64 << 10);
    for (int i = 0; i < 100; i++) {
      stream.send(requestBody(part, i == 99));
    }
    for (int i = 0; i < 100; i++) {
      assertThat(streamed(stream.answer())).isEqualTo(i == 99 ? part + "|" : part);
    }
    stream.call.cancel("done", null);
    await().until(() -> inFlight() == 0);
  }

  @Test
  void aStreamThatIsNotReadMayBufferLittle() throws Exception {
    try (var gateway = RawHttp2.caller(RawPeer.connect(server.port()))) {
      var settings = ByteBuffer.wrap(gateway.read(RawHttp2.SETTINGS).payload());
      int window = 65_535;
      while (settings.hasRemaining()) {
        boolean isWindow = settings.getShort() == INITIAL_WINDOW_SIZE;
        int value = settings.getInt();
        window = isWindow ? value : window;
      }
      assertThat(window).isLessThanOrEqualTo(128 << 10);
    }
  }

  @Test
  void permitsOfAKilledGatewayComeBack() throws Exception {
    isUp(MANY);
    byte[] first = get().toByteArray();
    byte[] message = ByteBuffer.allocate(5 + first.length).put((byte) 0).putInt(first.length)
        .put(first).array();
    try (var gateway = RawHttp2.caller(RawPeer.connect(server.port()))) {
      for (int i = 0; i < MANY; i++) {
        gateway.headers(2 * i + 1, false, ":method", "POST", ":scheme", "http", ":path",
            "/" + PROCESS, ":authority", "activator", "content-type", "application/grpc", "te",
            "trailers");
        gateway.data(2 * i + 1, false, message);
      }
      await().until(() -> inFlight() == MANY);
      var next = new Stream(get());
      await().until(() -> queued() == 1);

      try (var lines = LogLines.of(PickerServer.class)) {
        gateway.peer().reset();
        await().until(() -> lines.lines()
            .contains("INFO The gateway 127.0.0.1 is gone while it had " + MANY + " requests"));
      }

      assertThat(pods(next.answer())).hasSize(1);
      next.call.cancel("done", null);
      await().until(() -> inFlight() == 0);
    }
  }

  @Test
  void messagesInTheWrongOrderEndTheStream() {
    assertThat(new Stream(responseHeaders(200, true)).end()).satisfies(status -> {
      assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
      assertThat(status.getDescription()).contains("request_header_mode");
    });
    isUp(1);
    assertThat(new Stream(get(), get()).end().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    await().until(() -> inFlight() == 0);
  }

  @Test
  void whatIsNoMessageEndsTheStream() throws Exception {
    try (var gateway = RawHttp2.caller(RawPeer.connect(server.port()))) {
      gateway.headers(1, false, ":method", "POST", ":scheme", "http", ":path", "/" + PROCESS,
          ":authority", "activator", "content-type", "application/grpc", "te", "trailers");
      gateway.data(1, false, new byte[]{0, 0, 0, 0, 2, -1, -1});

      RawHttp2.Frame trailers;
      do {
        trailers = gateway.read(RawHttp2.HEADERS);
      } while (!trailers.ends());
      assertThat(trailers.field("grpc-status")).isEqualTo("3");
    }
  }

  private ServingStatus health(String service) {
    return ClientCalls.blockingUnaryCall(channel,
        method(MethodType.UNARY, "grpc.health.v1.Health/Check",
            HealthCheckRequest.getDefaultInstance(), HealthCheckResponse.getDefaultInstance()),
        CallOptions.DEFAULT, HealthCheckRequest.newBuilder().setService(service).build())
        .getStatus();
  }

  @Test
  void answersHealthChecks() {
    assertThat(health("")).isEqualTo(ServingStatus.SERVING);
    readiness = new Readiness.NotReady("draining");

    assertThat(health("readiness")).isEqualTo(ServingStatus.NOT_SERVING);
    assertThat(health("envoy.service.ext_proc.v3.ExternalProcessor"))
        .isEqualTo(ServingStatus.NOT_SERVING);
    assertThat(health("liveness")).isEqualTo(ServingStatus.SERVING);
    assertThatThrownBy(() -> health("other")).isInstanceOfSatisfying(StatusRuntimeException.class,
        e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND));
  }

  @Test
  void refusesWaitingRequestsWhenItStops_andLetsOthersEnd() throws Exception {
    isUp(1);
    var running = new Stream(post());
    pods(running.answer());
    var waiting = new Stream(get());
    await().until(() -> queued() == 1);

    var stopped = CompletableFuture.runAsync(server::stop);

    assertThat(waiting.answer().getImmediateResponse().getStatus().getCode()).isEqualTo(503);
    running.send(requestBody("", true), responseHeaders(200, true));
    running.call.halfClose();
    assertThat(running.end().getCode()).isEqualTo(Status.Code.OK);
    stopped.orTimeout(60, TimeUnit.SECONDS).join();
    assertThat(inFlight()).isZero();
  }

  @Test
  void drainsWhileOtherRequestsDrain_soThatTheTimeIsNotSpentTwice() throws Exception {
    isUp(1);
    server.stop();
    server = server(0, Duration.ofMinutes(10));
    server.start();
    channel.shutdownNow();
    channel = ManagedChannelBuilder.forAddress("127.0.0.1", server.port()).usePlaintext().build();
    var running = new Stream(post());
    pods(running.answer());
    var waiting = new Stream(get());
    await().until(() -> queued() == 1);

    server.drain();
    await().untilAsserted(() -> assertThat(new Stream(get()).end().getCode())
        .isEqualTo(Status.Code.UNAVAILABLE));
    running.send(requestBody("", true), responseHeaders(200, true));
    running.call.halfClose();

    assertThat(pods(waiting.answer())).hasSize(1);
    waiting.call.cancel("done", null);
    server.stop();
    assertThat(inFlight()).isZero();
  }

  private void secure(PickerTls how) throws Exception {
    server.stop();
    tls = how;
    server = server(0, Duration.ofSeconds(5));
    server.start();
    channel.shutdownNow();
  }

  private static ManagedChannel channel(int port, SslContextBuilder trust, String version)
      throws IOException {
    return NettyChannelBuilder.forAddress("127.0.0.1", port)
        .sslContext(GrpcSslContexts.configure(trust, SslProvider.JDK).protocols(version).build())
        .overrideAuthority("activator.test").build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void speaksTlsWithASelfSignedCertificate_alsoAsEnvoyOffersIt(String version) throws Exception {
    secure(new PickerTls.SelfSigned());
    channel = channel(server.port(),
        SslContextBuilder.forClient().trustManager(InsecureTrustManagerFactory.INSTANCE), version);

    assertThat(health("")).isEqualTo(ServingStatus.SERVING);
    isUp(1);
    assertThat(pods(new Stream(get()).answer())).hasSize(1);
  }

  @Test
  void showsTheCertificateInItsFiles(@TempDir Path folder) throws Exception {
    var authority = Authority.named("ca");
    var certificate = authority.issue("activator.test");
    var chain = folder.resolve("tls.crt");
    var key = folder.resolve("tls.key");
    Files.writeString(chain, certificate.pem());
    Files.writeString(key, certificate.keyPem());
    secure(new PickerTls.Files(chain, key));

    channel = channel(server.port(),
        SslContextBuilder.forClient().trustManager(authority.certificate()), "TLSv1.3");

    assertThat(health("")).isEqualTo(ServingStatus.SERVING);
  }

  @Test
  void aGatewayWithoutTlsIsRefused_andOthersAreNot() throws Exception {
    secure(new PickerTls.SelfSigned());
    channel = ManagedChannelBuilder.forAddress("127.0.0.1", server.port()).usePlaintext().build();

    assertThat(new Stream(get()).end().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
  }

  @Test
  void aTakenPortIsNamed() throws IOException {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var other = server(taken.getLocalPort(), Duration.ZERO);

      assertThatThrownBy(other::start).isInstanceOf(IOException.class)
          .hasMessageContaining("activator.picker.port is " + taken.getLocalPort());
    }
  }
}
