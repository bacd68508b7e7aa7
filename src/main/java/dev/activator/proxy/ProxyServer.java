package dev.activator.proxy;

import dev.activator.loop.KeepAlive;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.Transport;
import dev.activator.proxy.codec.RequestDecoder;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.tls.ServerCertificate;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for requests, and gives each connection its handlers.
 *
 * <p>
 * <b>Threads.</b> Any may call. A connection lives on one event loop of the group, and so does
 * everything its requests need.
 *
 * <p>
 * <b>Source.</b> {@code main.go} of Knative's activator, whose chain of handlers is the one below and
 * the order of checks in {@link dev.activator.proxy.exchange.Router}.
 */
public final class ProxyServer {
  private static final Logger log = LoggerFactory.getLogger(ProxyServer.class);

  /** An event for the handlers of a connection that should end. */
  enum Drain {
    /** Soon: the next response says so. */
    SOON,
    /** As soon as it has nothing to do. */
    NOW
  }

  private final EventLoopGroup acceptors;
  private final EventLoopGroup group;
  private final Duration headTimeout;
  private final IdentityHashMap<EventLoop, RequestDispatcher> dispatchers = new IdentityHashMap<>();
  private final List<Channel> listening = new ArrayList<>();
  private final EndedConnections ended = new EndedConnections();
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private volatile Consumer<String> lost = _ -> {
  };
  private volatile boolean drainAnnounced;
  private volatile boolean draining;

  /**
   * Makes a server that does not listen yet.
   *
   * @param acceptors accepts connections
   * @param group serves them
   * @param loops those of {@code group}
   * @param headTimeout how long a request's head may take to arrive
   * @param dispatchers makes the dispatcher of each loop
   */
  public ProxyServer(EventLoopGroup acceptors, EventLoopGroup group, LoopGroup loops,
      Duration headTimeout, Function<NettyLoop, RequestDispatcher> dispatchers) {
    this.acceptors = acceptors;
    this.group = group;
    this.headTimeout = headTimeout;
    loops.all().forEach(loop -> this.dispatchers.put(loop.eventLoop(), dispatchers.apply(loop)));
  }

  /** Calls the listener, with a sentence, when an address is not listened on any more. */
  public void onLost(Consumer<String> listener) {
    lost = listener;
  }

  /**
   * Listens on another address, and returns the port: the one asked for, or a free one for 0.
   *
   * @throws IOException with the address and port in its message, if that is not possible
   */
  public int listen(String host, int port) throws IOException {
    return listen(host, port, this::accept);
  }

  /** Listens with TLS, as the server with this certificate. */
  public int listen(String host, int port, ServerCertificate certificate) throws IOException {
    return listen(host, port, connection -> {
      // From here on bytes are in clear. They say themselves which version of HTTP they are.
      connection.pipeline().addLast(certificate.handler(connection.alloc()));
      accept(connection);
    });
  }

  private synchronized int listen(String host, int port, Consumer<Channel> handlers)
      throws IOException {
    var transport = Transport.of(acceptors.next());
    var server = new ServerBootstrap().group(acceptors, group).channel(transport.server())
        .option(ChannelOption.SO_BACKLOG, 4096).option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.TCP_NODELAY, true).childOption(ChannelOption.SO_KEEPALIVE, true)
        .childHandler(new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel connection) {
            handlers.accept(connection);
          }
        });
    KeepAlive.FROM_CALLERS.options(transport).forEach(server::childOption);
    return listens(server.bind(host, port).awaitUninterruptibly(), host, port);
  }

  private int listens(ChannelFuture bound, String host, int port) throws IOException {
    if (!bound.isSuccess()) {
      throw new IOException("cannot listen on " + host + ":" + port + ": "
          + bound.cause().getMessage(), bound.cause());
    }
    listening.add(bound.channel());
    int actual = ((InetSocketAddress) bound.channel().localAddress()).getPort();
    log.info("Requests are taken on {}:{}", host, actual);
    var told = new AtomicBoolean();
    Runnable tell = () -> {
      if (!draining && told.compareAndSet(false, true)) {
        lost.accept("no requests are taken on " + host + ":" + actual + " any more");
      }
    };
    bound.channel().closeFuture().addListener(_ -> tell.run());
    // An event loop can end without closing its channels: it looks for a shutdown before it runs its
    // tasks, and one that is asked for in between ends it.
    bound.channel().eventLoop().terminationFuture().addListener(_ -> tell.run());
    return actual;
  }

  /** Connections that were ended because of what their callers sent. */
  public EndedConnections endedConnections() {
    return ended;
  }

  /** Serves a connection: adds its handlers, in the order in which bytes pass them. */
  public void accept(Channel connection) {
    var dispatcher = dispatchers.get(connection.eventLoop());
    if (dispatcher == null) {
      throw new IllegalStateException("a connection on a loop that is none of ours");
    }
    connections.add(connection);
    var pipeline = connection.pipeline();
    // A connection that begins as HTTP/2 does is one: the handlers that follow are replaced.
    pipeline.addLast(new ProtocolSniffer(() -> toHttp2(connection, dispatcher)));
    // Bytes become requests, and what is ambiguous is refused.
    var decoder = new RequestDecoder();
    pipeline.addLast(decoder);
    // Responses become bytes.
    pipeline.addLast(new Http1Downstream.Encoder());
    // One request after the other is dispatched, and has its exchange.
    var http1 = new Http1Connection(connection, decoder, dispatcher, headTimeout, ended,
        () -> toHttp2(connection, dispatcher));
    pipeline.addLast(http1);
    if (draining) {
      http1.closeAfterThis();
    } else if (drainAnnounced) {
      http1.closeAfterNext();
    }
  }

  private Http2Session toHttp2(Channel connection, RequestDispatcher dispatcher) {
    var pipeline = connection.pipeline();
    var session = Http2Session.of(dispatcher, headTimeout, ended);
    // The first thing a session does is to write.
    pipeline.remove(Http1Downstream.Encoder.class);
    pipeline.addLast(session.limiter());
    pipeline.addLast(session);
    // What the decoder has read already goes on to the session.
    pipeline.remove(RequestDecoder.class);
    pipeline.remove(Http1Connection.class);
    if (draining) {
      session.drain();
    }
    return session;
  }

  /**
   * Makes callers in HTTP/1 move to other connections before theirs are ended: from now on each
   * response says that it is the last of its connection. Callers in HTTP/2 need no such warning: they
   * can be told without harm when it is time to {@link #drain}.
   */
  public synchronized void announceDrain() {
    drainAnnounced = true;
    connections.forEach(one -> one.pipeline().fireUserEventTriggered(Drain.SOON));
  }

  /**
   * Takes no more connections, and ends each one after the response under way. Completes when none is
   * left.
   */
  public synchronized CompletionStage<Void> drain() {
    draining = true;
    var done = new CompletableFuture<Void>();
    var closing = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    closing.addAll(listening);
    closing.close().addListener(_ -> {
      connections.forEach(one -> one.pipeline().fireUserEventTriggered(Drain.NOW));
      connections.newCloseFuture().addListener(_ -> done.complete(null));
    });
    return done;
  }

  /** Ends at once, requests under way included. */
  @SuppressWarnings("FutureReturnValueIgnored") // The result does not matter.
  public synchronized void close() {
    draining = true;
    listening.forEach(Channel::close);
    connections.close();
  }
}
