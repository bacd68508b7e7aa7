package dev.activator.loop;

import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.Optional;

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

  /**
   * Why the native transport of Linux is not used, in a line; empty where it is, or could not be.
   * Mostly its library can neither be found nor unpacked.
   */
  public static Optional<String> whyNotNative() {
    if (Epoll.isAvailable() || !System.getProperty("os.name").equals("Linux")) {
      return Optional.empty();
    }
    Throwable why = Epoll.unavailabilityCause();
    while (why.getCause() != null) {
      why = why.getCause();
    }
    return Optional.of("the native one cannot be loaded (" + why.getMessage()
        + "); see docs/troubleshooting.md");
  }

  /** Those of this loop: native ones where it is native. */
  public static Transport of(EventLoop eventLoop) {
    return eventLoop instanceof IoEventLoop io && io.isIoType(EpollIoHandler.class)
        ? new Transport(EpollSocketChannel.class, EpollServerSocketChannel.class)
        : NIO;
  }
}
