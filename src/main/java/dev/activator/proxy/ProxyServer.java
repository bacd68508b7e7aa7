package dev.activator.proxy;

import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.Transport;
import dev.activator.proxy.codec.RequestDecoder;
import dev.activator.proxy.codec.ResponseEncoder;
import dev.activator.proxy.connection.Drain;
import dev.activator.proxy.connection.Http1Connection;
import dev.activator.proxy.connection.Http2Session;
import dev.activator.proxy.connection.ProtocolSniffer;
import dev.activator.proxy.exchange.Entrance;
import dev.activator.proxy.exchange.Worker;
import dev.activator.proxy.held.HeldBytes;
import dev.activator.proxy.route.Router;
import dev.activator.throttle.policy.MemoryBound;
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
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes requests, and brings each to a pod.
 *
 * <p>
 * <b>Threads.</b> Any may call. A connection lives on one event loop of the group, and so does
 * everything its requests need.
 *
 * <p>
 * <b>Source.</b> {@code main.go} of Knative's activator, whose chain of handlers is the list in
 * {@link Router} and the one below.
 */
public final class ProxyServer {
  private static final Logger log = LoggerFactory.getLogger(ProxyServer.class);

  private final EventLoopGroup acceptors;
  private final EventLoopGroup group;
  private final IdentityHashMap<EventLoop, Entrance> entrances = new IdentityHashMap<>();
  private final ProxySettings settings;
  private final HeldBytes held;
  private final List<Channel> listening = new ArrayList<>();
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private volatile Consumer<String> lost = _ -> {
  };
  private volatile boolean leaving;
  private volatile boolean draining;

  /**
   * Makes a server that does not listen yet.
   *
   * @param acceptors accepts connections
   * @param group serves them
   * @param loops those of {@code group}
   */
  public ProxyServer(EventLoopGroup acceptors, EventLoopGroup group, LoopGroup loops,
      ProxySettings settings, Neighbours neighbours) {
    this.acceptors = acceptors;
    this.group = group;
    this.settings = settings;
    var router = new Router(settings.clusterDomain(), settings.hosts(), settings.addressing(),
        neighbours.revisions(), neighbours.readiness());
    this.held = new HeldBytes(new MemoryBound(settings.heldBytes()));
    for (var loop : loops.all()) {
      var worker = worker(loop, neighbours, held.share(), settings.startMessages());
      entrances.put(loop.eventLoop(), new Entrance(worker, router, neighbours.admitter()));
    }
  }

  private static Worker worker(NettyLoop loop, Neighbours neighbours, HeldBytes.Share held,
      boolean startMessages) {
    return new Worker(loop, neighbours.upstreams().of(loop), neighbours.counters().apply(loop),
        held, neighbours.observers().apply(loop), startMessages);
  }

  /** Whom to tell, in a sentence, of an address that is not listened on any more. */
  public void onLost(Consumer<String> listener) {
    lost = listener;
  }

  /**
   * Listens on another address, and returns the port: the one asked for, or a free one for 0.
   *
   * @throws IOException with the address and port in its message, if that is not possible
   */
  public int listen(String host, int port) throws IOException {
    return listen(host, port, this::handle);
  }

  /**
   * As the other, over TLS.
   *
   * @param certificate the one that callers are shown
   */
  public int listen(String host, int port, ServerCertificate certificate) throws IOException {
    return listen(host, port, connection -> {
      // Bytes are in clear from here on. Which HTTP they are, they say themselves.
      connection.pipeline().addLast(certificate.handler(connection.alloc()));
      handle(connection);
    });
  }

  private synchronized int listen(String host, int port, Consumer<Channel> handlers)
      throws IOException {
    var transport = Transport.of(acceptors.next());
    var bound = new ServerBootstrap().group(acceptors, group).channel(transport.server())
        .option(ChannelOption.SO_BACKLOG, 4096).option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.TCP_NODELAY, true).childOption(ChannelOption.SO_KEEPALIVE, true)
        .childHandler(new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel connection) {
            handlers.accept(connection);
          }
        }).bind(host, port).awaitUninterruptibly();
    return listens(bound, host, port);
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

  /** The handlers of a connection, in the order in which bytes come through them. */
  private void handle(Channel connection) {
    var entrance = entrances.get(connection.eventLoop());
    if (entrance == null) {
      throw new IllegalStateException("a connection on a loop that is none of ours");
    }
    connections.add(connection);
    var pipeline = connection.pipeline();
    // A connection that begins as HTTP/2 does is one, and what follows is replaced.
    pipeline.addLast(new ProtocolSniffer(() -> toHttp2(connection, entrance)));
    // Bytes become requests here, and what is ambiguous is refused.
    pipeline.addLast(new RequestDecoder());
    // Responses become bytes.
    pipeline.addLast(new ResponseEncoder());
    // One request after the other is routed, and has its exchange.
    var http1 = new Http1Connection(connection, entrance, settings.headTimeout(),
        () -> toHttp2(connection, entrance));
    pipeline.addLast(http1);
    if (draining) {
      http1.closeAfterThis();
    } else if (leaving) {
      http1.closeAfterNext();
    }
  }

  private Http2Session toHttp2(Channel connection, Entrance entrance) {
    var pipeline = connection.pipeline();
    var session = Http2Session.of(entrance, settings.headTimeout());
    // The first thing a session does is to write.
    pipeline.remove(ResponseEncoder.class);
    pipeline.addLast(session);
    // What the decoder has read already follows to the session.
    pipeline.remove(RequestDecoder.class);
    pipeline.remove(Http1Connection.class);
    if (draining) {
      session.drain();
    }
    return session;
  }

  /**
   * Has callers in HTTP/1 move to other connections before theirs are ended: from now on each response
   * says that it is the last of its connection. Nothing else changes; a caller in HTTP/2 can be told
   * without harm when it is time to {@link #drain}.
   */
  public synchronized void askToLeave() {
    leaving = true;
    connections.forEach(one -> one.pipeline().fireUserEventTriggered(Drain.SOON));
  }

  /**
   * Takes no more connections, and ends each one after the response it is busy with. Complete when
   * there is none left.
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

  /** How many bytes of requests are held in memory. Any thread may ask. */
  public long heldBytes() {
    return held.total();
  }

  /** Ends at once, requests under way included. */
  @SuppressWarnings("FutureReturnValueIgnored") // Nobody waits for it.
  public synchronized void close() {
    draining = true;
    listening.forEach(Channel::close);
    connections.close();
  }
}
