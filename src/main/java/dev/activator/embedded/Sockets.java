package dev.activator.embedded;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import reactor.netty.resources.LoopResources;

/**
 * Opens sockets on the event loops it is given, with the transport that belongs to them.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in.
 */
public final class Sockets {
  private final EventLoopGroup loops;
  private final Class<? extends ServerChannel> serverType;
  private final Class<? extends Channel> clientType;

  private Sockets(EventLoopGroup loops, Class<? extends ServerChannel> serverType,
      Class<? extends Channel> clientType) {
    this.loops = loops;
    this.serverType = serverType;
    this.clientType = clientType;
  }

  /** Sockets on these loops, native where the platform has it. */
  public static Sockets of(LoopResources resources) {
    EventLoopGroup loops = resources.onServer(LoopResources.DEFAULT_NATIVE);
    return new Sockets(loops, resources.onChannelClass(ServerSocketChannel.class, loops),
        resources.onChannelClass(SocketChannel.class, loops));
  }

  /** The loops, for whoever needs one. */
  public EventLoopGroup loops() {
    return loops;
  }

  /** A listener whose connections all live on one loop. */
  public ServerBootstrap server(EventLoop loop) {
    return new ServerBootstrap().group(loop).channel(serverType);
  }

  /** A listener whose connections are spread over all loops. */
  public ServerBootstrap server() {
    return new ServerBootstrap().group(loops).channel(serverType);
  }

  /** A connection that lives on this loop. */
  public Bootstrap client(EventLoop loop) {
    return new Bootstrap().group(loop).channel(clientType);
  }

  /**
   * Listens, and waits until it does.
   *
   * <p>
   * <b>Errors.</b> Throws when that is not possible, with a message that says who could not listen
   * where.
   */
  public static Channel bind(ServerBootstrap server, InetSocketAddress address, String who) {
    var bound = server.bind(address).awaitUninterruptibly();
    if (bound.cause() instanceof IOException e) {
      throw new IllegalStateException(who + " cannot listen on " + address.getHostString() + ":"
          + address.getPort() + ": " + e.getMessage(), e);
    }
    return bound.syncUninterruptibly().channel();
  }

  /** The port a channel listens on. */
  public static int port(Channel listener) {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }
}
