package dev.activator.loop;

import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/**
 * The kinds of channel an event loop can run.
 *
 * @param socket a connection
 * @param server what listens
 */
public record Transport(Class<? extends SocketChannel> socket,
    Class<? extends ServerSocketChannel> server) {
  private static final Transport NIO = new Transport(NioSocketChannel.class,
      NioServerSocketChannel.class);

  /** Those of this loop: native ones where it is native. */
  public static Transport of(EventLoop eventLoop) {
    return eventLoop instanceof IoEventLoop io && io.isIoType(EpollIoHandler.class)
        ? new Transport(EpollSocketChannel.class, EpollServerSocketChannel.class)
        : NIO;
  }
}
