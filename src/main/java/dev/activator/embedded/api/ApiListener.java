package dev.activator.embedded.api;

import dev.activator.embedded.api.http.Entrance;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/**
 * The server's port and the connections that came through it. The port stays the same when it is
 * closed and opened again, and nobody else gets it between.
 *
 * <p>
 * <b>Threads.</b> Opened and closed by one thread at a time.
 */
final class ApiListener {
  private static final Logger log = LoggerFactory.getLogger(ApiListener.class);
  private static final int IO_THREADS = 2;

  private final HttpServer http;
  private final LoopResources threads;
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private volatile InetSocketAddress address;
  private @Nullable DisposableServer listening;
  private @Nullable SocketChannel hold;
  private boolean retired;

  ApiListener(InetSocketAddress address, Entrance handler) {
    this.address = address;
    this.threads = LoopResources.create("embedded-api", IO_THREADS, true);
    this.http = HttpServer.create().runOn(threads).option(ChannelOption.SO_REUSEADDR, true)
        .doOnChannelInit((_, channel, _) -> connections.add(channel)).handle(handler);
  }

  /** Where it listens, or would. */
  InetSocketAddress address() {
    return address;
  }

  /** Listens, and waits until it does. */
  synchronized void open() {
    try {
      opened(http.bindAddress(() -> address).bindNow());
    } catch (ChannelBindException taken) {
      threads.dispose();
      throw new IllegalStateException("the embedded Kubernetes API cannot listen on "
          + address.getHostString() + ":" + address.getPort() + ": " + taken.getMessage(), taken);
    }
  }

  /** Listens again, soon. */
  synchronized void reopen() {
    if (retired) {
      return;
    }
    http.bindAddress(() -> address).bind().subscribe(this::opened,
        failure -> log.error("The embedded Kubernetes API could not listen again", failure));
  }

  /** Takes no connections any more; those who try are refused. */
  synchronized void shut() {
    var server = listening;
    if (server == null) {
      return;
    }
    listening = null;
    server.channel().close().awaitUninterruptibly();
    holdPort();
  }

  /** Takes no connections any more, and never will again. */
  synchronized void retire() {
    retired = true;
    shut();
  }

  /** Ends all connections without a word. */
  void resetConnections() {
    connections.forEach(channel -> channel.eventLoop().execute(() -> reset(channel)));
  }

  /** Ends all connections and the threads they lived on. */
  synchronized void close(Duration timeout) {
    retire();
    if (!connections.close().awaitUninterruptibly(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
      log.warn("{} connections to the embedded Kubernetes API did not close in {}",
          connections.size(), timeout);
    }
    threads.disposeLater(Duration.ZERO, timeout).block(timeout.multipliedBy(2));
    releasePort();
  }

  private static void reset(Channel channel) {
    channel.config().setOption(ChannelOption.SO_LINGER, 0);
    channel.close();
  }

  private synchronized void opened(DisposableServer server) {
    if (retired) {
      server.dispose();
      return;
    }
    listening = server;
    address = new InetSocketAddress(address.getHostString(), server.port());
    releasePort();
  }

  /** A socket that is bound and does not listen: who connects is refused, who binds gets another. */
  private void holdPort() {
    try {
      var holding = SocketChannel.open();
      holding.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      holding.bind(address);
      hold = holding;
    } catch (IOException failure) {
      log.warn("Port {} could not be kept while the server is down: {}", address.getPort(),
          failure.getMessage());
    }
  }

  private void releasePort() {
    var holding = hold;
    hold = null;
    if (holding != null) {
      try {
        holding.close();
      } catch (IOException failure) {
        log.warn("Port {} could not be given back: {}", address.getPort(), failure.getMessage());
      }
    }
  }
}
