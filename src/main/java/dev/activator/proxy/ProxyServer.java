package dev.activator.proxy;

import dev.activator.http.Http1Encoder.ResponseEncoder;
import dev.activator.loop.LogLimit;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.tls.ServerCertificate;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for requests and gives each connection its handlers.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Source.</b> {@code main.go} of Knative's activator: its chain of handlers is the pipeline
 * here and the checks in {@link dev.activator.proxy.exchange.Router}.
 */
public final class ProxyServer {
  private static final Logger log = LoggerFactory.getLogger(ProxyServer.class);
  private static final String REQUESTS = "requests";

  enum Drain {
    /** Closes connections after their next response. */
    SOON,
    /** Closes connections as soon as they are idle. */
    NOW
  }

  private final EventLoopGroup acceptors;
  private final EventLoopGroup group;
  private final Duration headTimeout;
  private final NettyLoop clock;
  private final LogLimit failures = new LogLimit();
  private final IdentityHashMap<EventLoop, RequestDispatcher> dispatchers = new IdentityHashMap<>();
  private final List<Channel> listening = new ArrayList<>();
  private final AbusiveConnectionCounter ended = new AbusiveConnectionCounter();
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private volatile Consumer<String> lost = _ -> {
  };
  private volatile boolean drainAnnounced;
  private volatile boolean draining;

  /**
   * @param group serves connections
   * @param loops of {@code group}
   * @param headTimeout how long a head may take to arrive
   */
  public ProxyServer(EventLoopGroup acceptors, EventLoopGroup group, LoopGroup loops,
      Duration headTimeout, Function<NettyLoop, RequestDispatcher> dispatchers) {
    this.acceptors = acceptors;
    this.group = group;
    this.headTimeout = headTimeout;
    this.clock = loops.all().getFirst();
    loops.all().forEach(loop -> this.dispatchers.put(loop.eventLoop(), dispatchers.apply(loop)));
  }

  public RequestDispatcher dispatcher(EventLoop loop) {
    var dispatcher = dispatchers.get(loop);
    if (dispatcher == null) {
      throw new IllegalStateException("a connection on an unknown event loop");
    }
    return dispatcher;
  }

  /** Sets a listener that is called with a message if a port closes unexpectedly. */
  public void onLost(Consumer<String> listener) {
    lost = listener;
  }

  /**
   * @return the port; a free one if {@code port} is 0
   * @throws IOException naming address and port
   */
  public int listen(String host, int port) throws IOException {
    return listen(REQUESTS, host, port, this::accept);
  }

  /**
   * Listens for requests that are dispatched in another way.
   *
   * @param what comes there, for the log
   * @param dispatcher made from that of each loop
   */
  public int listenAs(String what, String host, int port,
      UnaryOperator<RequestDispatcher> dispatcher) throws IOException {
    var own = new IdentityHashMap<EventLoop, RequestDispatcher>();
    dispatchers.forEach((loop, usual) -> own.put(loop, dispatcher.apply(usual)));
    return listen(what, host, port, connection -> accept(connection,
        Objects.requireNonNull(own.get(connection.eventLoop()))));
  }

  public int listen(String host, int port, ServerCertificate certificate) throws IOException {
    return listen(REQUESTS, host, port, connection -> {
      // HTTP's version is recognised from the decrypted bytes.
      connection.pipeline().addLast(certificate.handler(connection.alloc()));
      accept(connection);
    });
  }

  /**
   * Listens for connections that are not HTTP. They are drained and closed like the others; to close
   * the channel ends only the listening.
   *
   * @param handlers adds those of a connection, on its loop
   * @return the channel that listens; cancelled if the proxy drains already
   */
  public CompletableFuture<Channel> listenFor(String host, int port,
      BiConsumer<Channel, RequestDispatcher> handlers) {
    var listens = new CompletableFuture<Channel>();
    bootstrap(connection -> {
      connections.add(connection);
      handlers.accept(connection, dispatcher(connection.eventLoop()));
    }).bind(host, port).addListener((ChannelFuture bound) -> listens(bound, listens));
    return listens;
  }

  private void listens(ChannelFuture bound, CompletableFuture<Channel> listens) {
    var channel = bound.channel();
    if (!bound.isSuccess()) {
      listens.completeExceptionally(bound.cause());
    } else if (opened(channel)) {
      channel.closeFuture().addListener(_ -> forget(channel));
      listens.complete(channel);
    } else {
      listens.cancel(false);
    }
  }

  /** Closes the channel instead if the proxy drains already. */
  @SuppressWarnings("FutureReturnValueIgnored") // A channel that cannot be closed is closed already.
  private synchronized boolean opened(Channel channel) {
    if (draining) {
      channel.close();
      return false;
    }
    channel.pipeline().addFirst(new AcceptPace(dispatchers.size())).addLast(new AcceptFailures());
    return listening.add(channel);
  }

  /** Says why connections cannot be accepted. Netty tries again after a second. */
  private final class AcceptFailures extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      failures.log(clock.nanoTime(), others -> log.warn("Cannot accept connections on {}: {}."
          + " {} others were since the last such line",
          NettyTransport.text(context.channel().localAddress()),
          cause.getMessage(), others));
    }
  }

  private synchronized void forget(Channel closed) {
    listening.remove(closed);
  }

  private ServerBootstrap bootstrap(Consumer<Channel> handlers) {
    var transport = NettyTransport.of(acceptors.next());
    var server = new ServerBootstrap().group(acceptors, group).channel(transport.server())
        .option(ChannelOption.SO_BACKLOG, 4096).option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.TCP_NODELAY, true).childOption(ChannelOption.SO_KEEPALIVE, true)
        .childHandler(new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel connection) {
            handlers.accept(connection);
          }
        });
    TcpKeepAlive.FROM_CALLERS.options(transport).forEach(server::childOption);
    return server;
  }

  private int listen(String what, String host, int port, Consumer<Channel> handlers)
      throws IOException {
    // Without the lock: the thread that binds may be waiting for it, to open another port.
    var bound = bootstrap(handlers).bind(host, port).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException("cannot listen on " + host + ":" + port + ": "
          + bound.cause().getMessage(), bound.cause());
    }
    var channel = bound.channel();
    int actual = ((InetSocketAddress) channel.localAddress()).getPort();
    opened(channel);
    log.info("Listening for {} on {}:{}", what, host, actual);
    var reported = new AtomicBoolean();
    Runnable report = () -> {
      if (!draining && reported.compareAndSet(false, true)) {
        lost.accept("no longer listening for " + what + " on " + host + ":" + actual);
      }
    };
    channel.closeFuture().addListener(_ -> report.run());
    // A loop that is shut down between two checks can end without closing its channels.
    channel.eventLoop().terminationFuture().addListener(_ -> report.run());
    return actual;
  }

  public AbusiveConnectionCounter endedConnections() {
    return ended;
  }

  /** In the order in which bytes pass the handlers. */
  public void accept(Channel connection) {
    accept(connection, dispatcher(connection.eventLoop()));
  }

  private void accept(Channel connection, RequestDispatcher dispatcher) {
    connections.add(connection);
    var pipeline = connection.pipeline();
    var decoder = new Http1RequestDecoder();
    pipeline.addLast(new ProtocolSniffer(() -> toHttp2(connection, decoder, dispatcher)));
    pipeline.addLast(decoder);
    pipeline.addLast(new ResponseEncoder());
    pipeline.addLast(new Http1CallerConnection(connection, dispatcher, headTimeout, ended));
    if (drainAnnounced || draining) {
      pipeline.fireUserEventTriggered(Drain.SOON);
    }
  }

  private void toHttp2(Channel connection, Http1RequestDecoder decoder,
      RequestDispatcher dispatcher) {
    var pipeline = connection.pipeline();
    var session = Http2CallerSession.of(connection, dispatcher, headTimeout, ended);
    // Removed first, because the session writes as soon as it is added.
    pipeline.remove(ResponseEncoder.class);
    pipeline.addLast(session);
    pipeline.remove(Http1CallerConnection.class);
    if (draining) {
      session.drain();
    }
    pipeline.remove(decoder);
  }

  /**
   * Lets HTTP/1 responses close their connections from now on, so that callers open new ones
   * elsewhere before {@link #drain}. HTTP/2 callers need no warning, because GOAWAY loses no
   * request.
   */
  public synchronized void announceDrain() {
    drainAnnounced = true;
    connections.forEach(one -> one.pipeline().fireUserEventTriggered(Drain.SOON));
  }

  /**
   * Accepts no more connections, and closes each one after its current response. Completes when no
   * connection is left.
   */
  public synchronized CompletionStage<Void> drain() {
    draining = true;
    var done = new CompletableFuture<Void>();
    var closing = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    closing.addAll(listening);
    closing.close().addListener(_ -> onceAllAreServed(() -> {
      connections.forEach(one -> one.pipeline().fireUserEventTriggered(Drain.NOW));
      connections.newCloseFuture().addListener(_ -> done.complete(null));
    }));
    return done;
  }

  /**
   * Runs the task when all accepted connections have their handlers. Loops run tasks in order, so
   * one task on each loop is enough.
   */
  private void onceAllAreServed(Runnable task) {
    var left = new AtomicInteger(dispatchers.size());
    Runnable countDown = () -> {
      if (left.decrementAndGet() == 0) {
        task.run();
      }
    };
    for (var loop : dispatchers.keySet()) {
      try {
        loop.execute(countDown);
      } catch (RejectedExecutionException e) {
        // The loop has ended, and its connections with it.
        countDown.run();
      }
    }
  }

  /** Closes all connections, also those with requests in flight. */
  @SuppressWarnings("FutureReturnValueIgnored") // The result does not matter.
  public synchronized void close() {
    draining = true;
    List.copyOf(listening).forEach(Channel::close);
    connections.forEach(NettyTransport::cut);
  }

  /**
   * A handler that recognises HTTP/2 by the first four bytes of a connection, and then removes
   * itself.
   *
   * <p><b>Source.</b> RFC 9113, section 3.4.
   */
  private static final class ProtocolSniffer extends ChannelInboundHandlerAdapter {
    private static final byte[] PREFACE = "PRI ".getBytes(StandardCharsets.US_ASCII);

    private final Runnable toHttp2;
    private ByteBuf first = Unpooled.EMPTY_BUFFER;

    /** @param toHttp2 replaces the handlers of HTTP/1 by one of HTTP/2 */
    ProtocolSniffer(Runnable toHttp2) {
      this.toHttp2 = toHttp2;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      var bytes = (ByteBuf) message;
      first = first.isReadable() ? Unpooled.wrappedBuffer(first, bytes) : bytes;
      var http2 = isHttp2(first);
      if (http2 != null) {
        if (http2) {
          toHttp2.run();
        }
        // Calls handlerRemoved, which passes the bytes to the next handler.
        context.pipeline().remove(this);
      }
    }

    /** Whether the bytes are the start of HTTP/2; null while undecided. */
    private static @Nullable Boolean isHttp2(ByteBuf bytes) {
      int length = Math.min(bytes.readableBytes(), PREFACE.length);
      for (int i = 0; i < length; i++) {
        if (bytes.getByte(bytes.readerIndex() + i) != PREFACE[i]) {
          return false;
        }
      }
      return length < PREFACE.length ? null : true;
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
      var rest = first;
      first = Unpooled.EMPTY_BUFFER;
      if (context.channel().isActive() && rest.isReadable()) {
        context.fireChannelRead(rest);
      } else {
        rest.release();
      }
    }
  }
}
