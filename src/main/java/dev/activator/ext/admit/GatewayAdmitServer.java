package dev.activator.ext.admit;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.activator.http.HeaderFieldList;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.loop.NettyTransport;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.exchange.Downstream;
import dev.activator.proxy.exchange.GatewayCaller;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.revision.LiveRevisions;
import dev.activator.ext.admit.GatewayAdmitRequest.Convention;
import dev.activator.ext.admit.GatewayAdmitRequest.OriginalRequest;
import dev.activator.ext.admit.GatewayAdmitRequest.Unclear;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.AsciiString;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/**
 * A server that answers a gateway's question whether it may send a request to a Service itself.
 * Gateways send questions over HTTP, or over gRPC as Envoy's external authorization. A question is
 * queued or refused like the request itself.
 *
 * <p><b>Threads.</b> One thread starts and stops it. Each question is handled on the loop of its
 * connection, which must be one of the proxy's.
 */
final class GatewayAdmitServer {
  private static final Logger log = LoggerFactory.getLogger(GatewayAdmitServer.class);
  private static final int MAX_HEAD = 64 << 10;
  /** The maximum size of a question over gRPC. It contains the headers of the original request. */
  private static final int MAX_MESSAGE = 256 << 10;
  private static final int MAX_STREAMS = 10_000;
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);
  /** Set on a connection when GOAWAY is sent. */
  private static final AttributeKey<Boolean> GOES_AWAY = AttributeKey
      .valueOf(GatewayAdmitServer.class, "goesAway");
  private static final LocalResponse SHUTTING_DOWN = LocalResponse
      .error(503, "the activator is shutting down").with(RequestFailure.REASON, "shutting-down");
  private final ProxyServer proxy;
  private final Settings settings;
  private final RevisionReadySince pods;
  private final LiveRevisions revisions;
  private final BooleanSupplier isReady;
  private final Runnable rejectQueued;
  private final LoopResources loops;
  private final Map<EventLoop, RequestDispatcher> dispatchers = new IdentityHashMap<>();
  private final List<GatewayHandover> handovers = new ArrayList<>();
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private @Nullable DisposableServer server;
  private volatile boolean stopping;

  /**
   * The settings of the server.
   *
   * @param port 0 takes a free one
   * @param requestDuration how long a request counts once the gateway sends it
   * @param headTimeout how long a question may take to arrive
   */
  public record Settings(String bindAddress, int port, Duration requestDuration,
      Duration headTimeout) {}

  /**
   * @param loops serve the proxy's connections
   * @param isReady connections are kept open while it is true
   * @param rejectQueued rejects queued questions when the process ends
   */
  public GatewayAdmitServer(ProxyServer proxy, Settings settings, RevisionReadySince pods,
      LiveRevisions revisions, LoopResources loops, BooleanSupplier isReady,
      Runnable rejectQueued) {
    this.proxy = proxy;
    this.settings = settings;
    this.pods = pods;
    this.revisions = revisions;
    this.loops = loops;
    this.isReady = isReady;
    this.rejectQueued = rejectQueued;
  }

  /** @throws IOException naming the property of a taken port */
  public void start() throws IOException {
    var group = loops.onServer(LoopResources.DEFAULT_NATIVE);
    group.forEach(loop -> dispatchers.put((EventLoop) loop,
        dispatcher(proxy.dispatcher((EventLoop) loop))));
    var http = HttpServer.create().host(settings.bindAddress()).port(settings.port()).runOn(loops)
        .protocol(HttpProtocol.HTTP11, HttpProtocol.H2C).option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.SO_KEEPALIVE, true)
        .httpRequestDecoder(
            decoder -> decoder.maxInitialLineLength(MAX_HEAD).maxHeaderSize(MAX_HEAD))
        .http2Settings(http2 -> http2.maxConcurrentStreams(MAX_STREAMS).maxHeaderListSize(MAX_HEAD))
        .doOnChannelInit((_, channel, _) -> limitHeads(channel)).channelGroup(connections)
        .handle(this::answer);
    var keepAlive = TcpKeepAlive.FROM_CALLERS.options(NettyTransport.of(group.next()));
    for (var option : keepAlive.entrySet()) {
      http = http.childOption(option.getKey(), option.getValue());
    }
    try {
      server = http.bindNow();
    } catch (RuntimeException e) {
      var cause = e.getCause() == null ? e : e.getCause();
      throw new IOException("activator.admit.port is " + settings.port()
          + ", but cannot listen on " + settings.bindAddress() + ":" + settings.port() + ": "
          + cause.getMessage(), e);
    }
    log.info("Gateways can send questions to {}:{}", settings.bindAddress(), port());
  }

  private RequestDispatcher dispatcher(RequestDispatcher proxied) {
    var handover = new GatewayHandover(proxied.loop(), pods, revisions, settings.requestDuration());
    handovers.add(handover);
    return proxied.with(handover);
  }

  private void limitHeads(Channel channel) {
    var dispatcher = Objects.requireNonNull(dispatchers.get(channel.eventLoop()));
    GatewayHeadLimiter.limit(channel.pipeline(), dispatcher.loop(), dispatcher.held(),
        settings.headTimeout(), proxy.endedConnections());
  }

  public int port() {
    return server == null ? 0 : server.port();
  }

  /** Refuses queued questions and new ones, and stops listening. */
  public void stop() {
    stopping = true;
    handovers.forEach(GatewayHandover::stop);
    rejectQueued.run();
    if (server != null) {
      try {
        server.disposeNow(STOP_TIMEOUT);
      } catch (IllegalStateException e) {
        log.debug("Some questions are cut off", e);
      }
      // disposeNow leaves connections open whose answer ends at this moment.
      connections.close().awaitUninterruptibly();
      server = null;
    }
  }

  private Publisher<Void> answer(HttpServerRequest request, HttpServerResponse response) {
    if (!isReady.getAsBoolean()) {
      if (request.version().equals(HttpVersion.HTTP_1_1)) {
        response.keepAlive(false);
      }
      request.withConnection(GatewayAdmitServer::goAway);
    }
    if (request.uri().equals(ExtAuthzCodec.PATH)) {
      return ExtAuthzCodec.isGrpc(request.requestHeaders())
          ? grpc(request, response)
          : send(response, LocalResponse.error(415, "this path takes application/grpc"));
    }
    var by = Convention.of(request.uri());
    if (by == null) {
      return send(response, LocalResponse.error(404, "a gateway sends its questions to "
          + List.of(Convention.values()) + " over HTTP, and at " + ExtAuthzCodec.PATH
          + " over gRPC"));
    }
    return answer(request, GatewayAdmitRequest.of(by, request.method().name(), request.uri(),
        request.requestHeaders()::get), request.requestHeaders())
        .flatMap(answer -> Mono.from(send(response, overHttp(answer))));
  }

  /**
   * Sends GOAWAY, as HTTP/2 has no header that announces the end of a connection. Questions on
   * their way are still answered.
   */
  @SuppressWarnings("FutureReturnValueIgnored") // A connection that fails needs no GOAWAY.
  private static void goAway(Connection stream) {
    if (stream.channel() instanceof Http2StreamChannel one
        && one.parent().attr(GOES_AWAY).getAndSet(true) == null) {
      one.parent().writeAndFlush(
          new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR).setExtraStreamIds(Integer.MAX_VALUE));
    }
  }

  private Publisher<Void> grpc(HttpServerRequest request, HttpServerResponse response) {
    ExtAuthzCodec.begin(response);
    return message(request).flatMap(message -> {
      try {
        var question = ExtAuthzCodec.decode(message);
        var headers = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/",
            HeaderFieldList.CHECKED).headers();
        question.getHeadersMap().forEach((name, value) -> {
          if (!name.startsWith(":")) {
            headers.add(HeaderFieldList.checked(new AsciiString(name)), value);
          }
        });
        return answer(request, GatewayAdmitRequest.of(Convention.HOST, question.getMethod(),
            Convention.HOST + question.getPath(),
            name -> "Host".equals(name) ? question.getHost() : null), headers);
      } catch (InvalidProtocolBufferException e) {
        throw new IllegalArgumentException(e.getMessage(), e);
      }
    }).onErrorResume(IllegalArgumentException.class, e -> Mono
        .just(LocalResponse.error(400, "malformed question: " + e.getMessage())))
        .onErrorResume(TooLongHttpHeaderException.class,
            _ -> Mono.just(RequestFailure.headTooLarge().answer()))
        .onErrorResume(TimeoutException.class, _ -> Mono
            .just(LocalResponse.error(408, "the question did not come in time")))
        .flatMap(answer -> Mono.from(ExtAuthzCodec.send(response, answer)));
  }

  /**
   * Reads a message. While it is incomplete, it has the time limit and the memory limit of an
   * incomplete head.
   */
  private Mono<byte[]> message(HttpServerRequest request) {
    var on = new AtomicReference<RequestDispatcher>();
    request.withConnection(connection -> on.set(dispatcher(connection)));
    var loop = on.get().loop();
    var refused = Sinks.<byte[]>one();
    var partial = on.get().held()
        .partialHead(() -> refused.tryEmitError(HeldRequestBytes.HEADS_HOLD_TOO_MUCH));
    var timer = new ResettableTimer(loop, () -> refused.tryEmitError(new TimeoutException()));
    timer.within(settings.headTimeout());
    return request.receive().asByteArray().collect(ByteArrayOutputStream::new, (body, part) -> {
      if (body.size() + part.length > MAX_MESSAGE) {
        throw new IllegalArgumentException("it is longer than " + MAX_MESSAGE + " bytes");
      }
      body.writeBytes(part);
      partial.grew(HeldRequestBytes.ofHead(body.size(), 0));
    }).map(ByteArrayOutputStream::toByteArray).takeUntilOther(refused.asMono())
        .doFinally(_ -> loop.execute(() -> {
          timer.cancel();
          partial.ended();
        }));
  }

  private RequestDispatcher dispatcher(Connection connection) {
    var dispatcher = dispatchers.get(connection.channel().eventLoop());
    if (dispatcher == null) {
      throw new IllegalStateException("a connection on an unknown event loop");
    }
    return dispatcher;
  }

  /**
   * The answer over HTTP. A gateway takes every 2xx as "yes", so any other answer with that status
   * becomes a 503.
   */
  private static LocalResponse overHttp(LocalResponse answer) {
    return answer.status() / 100 != 2 || ExtAuthzCodec.isAdmitted(answer)
        ? answer
        : new LocalResponse(503, answer.headers(), answer.body());
  }

  private static Publisher<Void> send(HttpServerResponse response, LocalResponse answer) {
    response.status(answer.status());
    answer.headers().forEach(response::header);
    return answer.body().isEmpty()
        ? response.header("Content-Length", "0").send()
        : response.sendString(Mono.just(answer.body()));
  }

  private Mono<LocalResponse> answer(HttpServerRequest request, GatewayAdmitRequest parsed,
      HttpHeaders headers) {
    return switch (parsed) {
      case Unclear(var problem) -> Mono.just(LocalResponse.error(400, problem));
      case OriginalRequest _ when stopping -> Mono.just(SHUTTING_DOWN);
      case OriginalRequest original -> Mono.create(sink -> request.withConnection(connection -> {
        var dispatcher = dispatcher(connection);
        var http = GatewayCaller.original(original.method(), original.host(), original.target(),
            headers);
        if (http == null) {
          sink.success(LocalResponse.error(400, "malformed original request"));
          return;
        }
        var question = new Question(dispatcher, Downstream.Caller.of(connection.channel()), sink);
        sink.onDispose(question::cancelled);
        question.admit(http, dispatcher);
      }));
    };
  }

  /** A question, as the caller of an exchange that ends with an answer and forwards nothing. */
  private static final class Question extends GatewayCaller {
    private final MonoSink<LocalResponse> sink;

    Question(RequestDispatcher dispatcher, Caller gateway, MonoSink<LocalResponse> sink) {
      super(dispatcher, gateway);
      this.sink = sink;
    }

    /** Called on any thread, and also after the answer. */
    void cancelled() {
      loop().execute(this::left);
    }

    @Override
    public void answer(LocalResponse answer) {
      sink.success(answer);
    }

    @Override
    public void abort() {
      sink.error(new IllegalStateException("nothing is forwarded here"));
      ended();
    }
  }
}
