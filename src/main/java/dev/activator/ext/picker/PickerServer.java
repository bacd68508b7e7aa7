package dev.activator.ext.picker;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.exchange.Downstream.Caller;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.throttle.Throttler;
import dev.activator.tls.ServerCertificate.CertificateFiles;
import dev.activator.tls.SelfSignedCertificate;
import dev.activator.tls.ServerCertificate;
import dev.activator.tls.ServerTlsSettings;
import dev.activator.wire.HealthCheckRequest;
import dev.activator.wire.HealthCheckResponse;
import dev.activator.wire.HealthCheckResponse.ServingStatus;
import dev.activator.wire.ProcessingRequest;
import dev.activator.wire.ProcessingResponse;
import io.grpc.Attributes;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.handler.ssl.SslContext;
import io.netty.util.NetUtil;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.resources.LoopResources;

/**
 * A gRPC server that answers gateways which pod a request may run on, and whether this process is ready.
 * Each stream is handled on the loop of its connection, which is one of the proxy's.
 *
 * <p><b>Threads.</b> One thread starts and stops it.
 *
 * <p><b>Source.</b> {@code external_processor.proto} of Envoy; gRPC's health checking protocol.
 */
final class PickerServer {
  private static final Logger log = LoggerFactory.getLogger(PickerServer.class);
  private static final String PROCESSOR = "envoy.service.ext_proc.v3.ExternalProcessor";
  private static final String HEALTH = "grpc.health.v1.Health";
  /** The names of the endpoint picker protocol, and the server as a whole. */
  private static final Set<String> READINESS = Set.of("", "readiness", PROCESSOR);
  private static final String LIVENESS = "liveness";
  private static final int MAX_METADATA = 64 << 10;
  /** The maximum size of a message; a gateway may send a whole body at once. */
  private static final int MAX_MESSAGE = 4 << 20;
  private static final int MAX_STREAMS = 10_000;
  /** What a gateway may send before it is read, on each stream; gRPC's own would grow to 8 MiB. */
  private static final int WINDOW = 128 << 10;
  private static final Duration PING_AFTER = Duration.ofSeconds(30);
  private static final Duration PING_TIMEOUT = Duration.ofSeconds(15);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);
  /** Envoy offers TLS 1.2 to what it connects to, unless it is configured otherwise. */
  private static final ServerTlsSettings TLS = ServerTlsSettings.of("activator.picker", "1.2",
      "1.3", "", "");
  private static final Attributes.Key<Gateway> GATEWAY = Attributes.Key.create("gateway");

  private final ProxyServer proxy;
  private final Settings settings;
  private final LoopResources loops;
  private final Throttler throttler;
  private final PickerCounts counts;
  private final BooleanSupplier isReady;
  private final PickedRequest.Pods pods;
  private final Map<EventLoop, RequestDispatcher> dispatchers = new IdentityHashMap<>();
  private @Nullable Server server;
  private @Nullable CertificateFiles files;
  private @Nullable Loop loop;
  /** Null unless a drain has begun. */
  private @Nullable Long drainEnds;
  private volatile boolean stopping;

  /**
   * The settings of the server.
   *
   * @param port 0 takes a free one
   * @param fallbacks how many other pods an answer names
   * @param propagationDelay after which time gateways know that this process is not ready
   * @param drainTimeout how long open streams may take to end after that
   */
  record Settings(String bindAddress, int port, int fallbacks, Duration propagationDelay,
      Duration drainTimeout, PickerTls tls) {}

  /** @param loops serve the proxy's connections */
  PickerServer(ProxyServer proxy, Settings settings, LoopResources loops, Throttler throttler,
      PickerCounts counts, BooleanSupplier isReady) {
    this.proxy = proxy;
    this.settings = settings;
    this.loops = loops;
    this.throttler = throttler;
    this.counts = counts;
    this.isReady = isReady;
    this.pods = new PickedRequest.Pods(throttler, settings.fallbacks, () -> stopping);
  }

  /** @throws IOException naming the property of a taken port */
  void start() throws IOException {
    var group = loops.onServer(LoopResources.DEFAULT_NATIVE);
    group.forEach(
        loop -> dispatchers.put((EventLoop) loop, proxy.dispatcher((EventLoop) loop)));
    var first = group.next();
    loop = new NettyLoop((EventLoop) first);
    var transport = NettyTransport.of(first);
    var builder = NettyServerBuilder
        .forAddress(new InetSocketAddress(settings.bindAddress, settings.port))
        .bossEventLoopGroup(loops.onServerSelect(LoopResources.DEFAULT_NATIVE))
        .workerEventLoopGroup(group).channelType(transport.server()).directExecutor()
        .withOption(ChannelOption.SO_REUSEADDR, true)
        // Otherwise gRPC makes its own, with separate memory.
        .withChildOption(ChannelOption.ALLOCATOR, ByteBufAllocator.DEFAULT)
        .maxConcurrentCallsPerConnection(MAX_STREAMS).maxInboundMetadataSize(MAX_METADATA)
        .maxInboundMessageSize(MAX_MESSAGE).flowControlWindow(WINDOW)
        .keepAliveTime(PING_AFTER.toSeconds(), TimeUnit.SECONDS)
        .keepAliveTimeout(PING_TIMEOUT.toSeconds(), TimeUnit.SECONDS)
        .permitKeepAliveTime(1, TimeUnit.SECONDS).permitKeepAliveWithoutCalls(true)
        .addTransportFilter(new OnItsLoop()).addService(processor()).addService(health());
    TcpKeepAlive.FROM_CALLERS.options(transport)
        .forEach((option, value) -> withChildOption(builder, option, value));
    var context = tls();
    if (context != null) {
      builder.sslContext(context);
    }
    GrpcLogs.shorten();
    try {
      server = builder.build().start();
    } catch (IOException e) {
      throw new IOException("activator.picker.port is " + settings.port
          + ", but cannot listen on " + settings.bindAddress + ":" + settings.port + ": "
          + e.getMessage(), e);
    }
    log.info("Gateways can send questions about pods to {}:{}", settings.bindAddress, port());
  }

  private @Nullable SslContext tls() throws IOException {
    return switch (settings.tls) {
      case PickerTls.Off _ -> null;
      case PickerTls.SelfSigned _ -> {
        var made = SelfSignedCertificate.of("endpoint picker");
        yield ServerCertificate.of("memory", made.certificate(), made.key(), TLS).context();
      }
      case PickerTls.Files(var certificate, var key) -> {
        files = CertificateFiles.read(certificate, key, TLS);
        files.watch();
        yield files.certificate().context();
      }
    };
  }

  @SuppressWarnings("unchecked") // A channel option checks its value itself.
  private static <T> void withChildOption(NettyServerBuilder builder, ChannelOption<T> option,
      Object value) {
    builder.withChildOption(option, (T) value);
  }

  int port() {
    return server == null ? 0 : server.getPort();
  }

  /** Begins to refuse new requests, once gateways have noticed that this process is not ready. */
  void drain() {
    var draining = server;
    if (draining != null && loop != null) {
      drainEnds = loop.nanoTime() + settings.propagationDelay.plus(settings.drainTimeout).toNanos();
      loop.schedule(settings.propagationDelay, () -> {
        stopping = true;
        draining.shutdown();
      });
    }
  }

  /**
   * Refuses queued requests and new ones, waits until the others have ended or the time of the drain is
   * over, and stops listening.
   */
  void stop() {
    stopping = true;
    throttler.rejectQueued();
    if (server != null && loop != null) {
      server.shutdown();
      try {
        long left = drainEnds == null
            ? settings.drainTimeout.toNanos()
            : Math.max(0, drainEnds - loop.nanoTime());
        if (!server.awaitTermination(left, TimeUnit.NANOSECONDS)) {
          log.warn("After {} s, requests of gateways are left; their streams are ended",
              settings.drainTimeout.toSeconds());
        }
        server.shutdownNow().awaitTermination(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      server = null;
    }
    if (files != null) {
      files.close();
    }
  }

  private ServerServiceDefinition processor() {
    var method = method(MethodType.BIDI_STREAMING, PROCESSOR + "/Process",
        ProcessingRequest.getDefaultInstance(), ProcessingResponse.getDefaultInstance());
    return ServerServiceDefinition.builder(PROCESSOR).addMethod(method, (call, _) -> {
      var gateway = Objects.requireNonNull(call.getAttributes().get(GATEWAY));
      var stream = new PickerCall(call, gateway.dispatcher,
          caller(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR)), pods, counts);
      stream.start();
      return gateway.counted(stream);
    }).build();
  }

  private static Caller caller(@Nullable SocketAddress address) {
    return address instanceof InetSocketAddress peer
        ? new Caller(NetUtil.toAddressString(peer.getAddress()), peer.getPort(), false)
        : new Caller("", 0, false);
  }

  private ServerServiceDefinition health() {
    var method = method(MethodType.UNARY, HEALTH + "/Check",
        HealthCheckRequest.getDefaultInstance(), HealthCheckResponse.getDefaultInstance());
    return ServerServiceDefinition.builder(HEALTH).addMethod(method, (call, _) -> {
      call.request(1);
      return new HealthCheck(call);
    }).build();
  }

  private static <Q extends Message, A extends Message> MethodDescriptor<Q, A> method(
      MethodType type, String name, Q question, A answer) {
    return MethodDescriptor.<Q, A>newBuilder().setType(type).setFullMethodName(name)
        .setRequestMarshaller(new Marshaller<>(question))
        .setResponseMarshaller(new Marshaller<>(answer)).build();
  }

  /** Gives each connection the dispatcher of its loop. */
  private final class OnItsLoop extends ServerTransportFilter {
    @Override
    public Attributes transportReady(Attributes transport) {
      for (var loop : dispatchers.entrySet()) {
        if (loop.getKey().inEventLoop()) {
          return transport.toBuilder().set(GATEWAY, new Gateway(loop.getValue())).build();
        }
      }
      throw new IllegalStateException("a connection on an unknown event loop");
    }

    @Override
    public void transportTerminated(Attributes transport) {
      var gateway = transport == null ? null : transport.get(GATEWAY);
      // The streams of a lost connection end after it.
      if (gateway != null && gateway.streams > 0 && !stopping) {
        log.info("The gateway {} is gone while it had {} requests",
            caller(transport.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR)).address(), gateway.streams);
      }
    }
  }

  /** A connection of a gateway. Its loop is the dispatcher's. */
  private static final class Gateway {
    private final RequestDispatcher dispatcher;
    private int streams;

    Gateway(RequestDispatcher dispatcher) {
      this.dispatcher = dispatcher;
    }

    ServerCall.Listener<ProcessingRequest> counted(
        ServerCall.Listener<ProcessingRequest> stream) {
      streams++;
      return new SimpleForwardingServerCallListener<>(stream) {
        @Override
        public void onComplete() {
          streams--;
          super.onComplete();
        }

        @Override
        public void onCancel() {
          streams--;
          super.onCancel();
        }
      };
    }
  }

  private final class HealthCheck extends ServerCall.Listener<HealthCheckRequest> {
    private final ServerCall<HealthCheckRequest, HealthCheckResponse> call;
    private @Nullable String service;

    HealthCheck(ServerCall<HealthCheckRequest, HealthCheckResponse> call) {
      this.call = call;
    }

    @Override
    public void onMessage(HealthCheckRequest question) {
      service = question.getService();
    }

    @Override
    public void onHalfClose() {
      if (service == null) {
        call.close(Status.INVALID_ARGUMENT.withDescription("no message"), new Metadata());
      } else if (service.equals(LIVENESS) || READINESS.contains(service)) {
        boolean serves = service.equals(LIVENESS) || isReady.getAsBoolean() && !stopping;
        call.sendHeaders(new Metadata());
        call.sendMessage(HealthCheckResponse.newBuilder()
            .setStatus(serves ? ServingStatus.SERVING : ServingStatus.NOT_SERVING).build());
        call.close(Status.OK, new Metadata());
      } else {
        call.close(Status.NOT_FOUND.withDescription("unknown service"), new Metadata());
      }
    }
  }

  /** Reads a malformed message as an empty one, which no state accepts. */
  private record Marshaller<T extends Message>(T empty)
      implements MethodDescriptor.Marshaller<T> {
    @Override
    public InputStream stream(T message) {
      return new ByteArrayInputStream(message.toByteArray());
    }

    @Override
    @SuppressWarnings("unchecked") // The parser of a message's type makes such messages.
    public T parse(InputStream from) {
      try {
        return ((Parser<T>) empty.getParserForType()).parseFrom(from);
      } catch (InvalidProtocolBufferException e) {
        return empty;
      }
    }
  }
}
