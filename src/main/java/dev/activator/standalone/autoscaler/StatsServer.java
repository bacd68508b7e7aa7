package dev.activator.standalone.autoscaler;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.activator.config.AllowedHosts;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.wire.WireStatMessages;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server that receives reports of activators over WebSockets, one batch in each binary frame.
 * It also answers the kubelet's probes.
 *
 * <p><b>Errors.</b> {@link #start} throws if the address is in use. Invalid frames and entries are
 * logged and skipped.
 *
 * <p><b>Source.</b> {@code pkg/autoscaler/statserver/server.go} in Knative Serving.
 */
public final class StatsServer {
  private static final Logger log = LoggerFactory.getLogger(StatsServer.class);
  private static final int RESTARTING = 1012;
  private static final int MAX_FRAME_BYTES = 16 << 20;
  private static final int MAX_BODY_BYTES = 64 << 10;
  private static final WebSocketServerProtocolConfig ANY_PATH = WebSocketServerProtocolConfig
      .newBuilder().websocketPath("/").checkStartsWith(true)
      .maxFramePayloadLength(MAX_FRAME_BYTES).build();
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

  private final EventLoopGroup loops;
  private final InetSocketAddress address;
  private final Consumer<ReportBatch> batches;
  private final BooleanSupplier leads;
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE,
      true);
  private volatile @Nullable Channel listener;

  public StatsServer(EventLoopGroup loops, InetSocketAddress address,
      Consumer<ReportBatch> batches) {
    this(loops, address, batches, () -> true);
  }

  /**
   * @param leads whether this activator leads; connections are refused while it does not. Called on
   *     any thread
   */
  public StatsServer(EventLoopGroup loops, InetSocketAddress address,
      Consumer<ReportBatch> batches, BooleanSupplier leads) {
    this.loops = loops;
    this.address = address;
    this.batches = batches;
    this.leads = leads;
  }

  public void start() {
    var transport = NettyTransport.of(loops.next());
    var server = new ServerBootstrap().group(loops).channel(transport.server())
        .childOption(ChannelOption.SO_KEEPALIVE, true)
        .childHandler(new ChannelInitializer<Channel>() {
          @Override
          protected void initChannel(Channel connection) {
            connections.add(connection);
            addHandlers(connection);
          }
        });
    // Without keep-alive, the connection of an activator that has crashed would stay open for ever.
    TcpKeepAlive.FROM_CALLERS.options(transport).forEach(server::childOption);
    var bound = server.bind(address).awaitUninterruptibly();
    if (bound.cause() instanceof IOException taken) {
      throw new IllegalStateException(
          "the autoscaler cannot listen on " + NettyTransport.text(address)
              + ": " + taken.getMessage(),
          taken);
    }
    listener = bound.syncUninterruptibly().channel();
    log.info("The autoscaler listens on {}", NettyTransport.text(listener.localAddress()));
  }

  public int port() {
    var listening = Objects.requireNonNull(listener, "not started");
    return ((InetSocketAddress) listening.localAddress()).getPort();
  }

  /** Closes with "service restart", so that activators connect again. */
  public void stop() {
    if (listener == null) {
      return;
    }
    listener.close().awaitUninterruptibly();
    disconnect();
    connections.newCloseFuture().awaitUninterruptibly(CLOSE_TIMEOUT.toMillis(),
        TimeUnit.MILLISECONDS);
    connections.close().awaitUninterruptibly();
  }

  /** Disconnects all activators, so that they connect to the new leader. */
  public void disconnect() {
    var _ = connections.writeAndFlush(new CloseWebSocketFrame(RESTARTING, "Restarting"));
  }

  private void addHandlers(Channel connection) {
    connection.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(MAX_BODY_BYTES),
        new WebPages(), new KubeletProbes(), new LeaderOnly(),
        new WebSocketServerProtocolHandler(ANY_PATH),
        new WebSocketFrameAggregator(MAX_FRAME_BYTES), new Frames());
  }

  private void received(ByteBuffer frame) {
    try {
      batches.accept(ReportBatch.decode(WireStatMessages.parseFrom(frame)));
    } catch (InvalidProtocolBufferException e) {
      log.error("A frame of {} bytes is not a batch of statistics: {}", frame.remaining(),
          e.getMessage());
    }
  }

  /** The hosts that requests may name. An IPv6 address is in the short form, as in URLs. */
  static AllowedHosts names(InetSocketAddress address, int port) {
    return new AllowedHosts(address.getAddress() instanceof Inet6Address ip
        ? NetUtil.toAddressString(ip)
        : address.getHostString(), port);
  }

  private static void answer(ChannelHandlerContext context, FullHttpRequest request,
      HttpResponseStatus status, String text) {
    request.release();
    var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status,
        Unpooled.copiedBuffer(text, StandardCharsets.UTF_8));
    response.headers().set("Content-Type", "text/plain; charset=utf-8");
    HttpUtil.setContentLength(response, response.content().readableBytes());
    context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
  }

  /** Refuses requests of web pages: a report can start processes on this machine. */
  private final class WebPages extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof FullHttpRequest request) {
        var refusal = names(address, port()).refusal(request.headers().getAll("Host"),
            request.headers().getAll("Origin"));
        if (refusal != null) {
          log.debug("Refused a connection: {}", refusal);
          answer(context, request, HttpResponseStatus.FORBIDDEN, refusal + "\n");
          return;
        }
      }
      context.fireChannelRead(message);
    }
  }

  private static final class KubeletProbes extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof FullHttpRequest request && isKubelet(request.headers())) {
        answer(context, request, HttpResponseStatus.OK, "");
      } else {
        context.fireChannelRead(message);
      }
    }

    private static boolean isKubelet(HttpHeaders headers) {
      return headers.get("User-Agent", "").startsWith("kube-probe/")
          || !headers.get("K-Kubelet-Probe", "").isEmpty();
    }
  }

  /** Refuses connections while this activator does not lead: their reports would be lost. */
  private final class LeaderOnly extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof FullHttpRequest request && !leads.getAsBoolean()) {
        answer(context, request, HttpResponseStatus.SERVICE_UNAVAILABLE,
            "this activator is not the leader\n");
      } else {
        context.fireChannelRead(message);
      }
    }
  }

  private final class Frames extends SimpleChannelInboundHandler<WebSocketFrame> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
      if (frame instanceof BinaryWebSocketFrame) {
        received(frame.content().nioBuffer());
      } else {
        log.error("Ignored a {}: only binary frames carry statistics",
            frame.getClass().getSimpleName());
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      log.debug("A connection of {} failed", context.channel().remoteAddress(), cause);
      var _ = context.close();
    }
  }
}
