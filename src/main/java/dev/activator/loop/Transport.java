package dev.activator.loop;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
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
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * The kinds of channel an event loop can run, and how one is connected.
 *
 * @param socket of connections
 * @param server of listeners
 */
public record Transport(Class<? extends SocketChannel> socket,
    Class<? extends ServerSocketChannel> server) {
  private static final Transport NIO = new Transport(NioSocketChannel.class,
      NioServerSocketChannel.class);

  /**
   * Why the native transport of Linux is not used, in a line; empty where it is, or on another
   * system. Usually its library can neither be found nor unpacked.
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
        + "); see docs/operations.md");
  }

  /** The kinds of this loop: native ones if it is native. */
  public static Transport of(EventLoop eventLoop) {
    return eventLoop instanceof IoEventLoop io && io.isIoType(EpollIoHandler.class)
        ? new Transport(EpollSocketChannel.class, EpollServerSocketChannel.class)
        : NIO;
  }

  /**
   * Connects, once. A connection to itself counts as refused: with no listener on a port of this
   * machine, an attempt that happens to leave from that very port succeeds and reads what it writes.
   *
   * <p>
   * <b>Source.</b> RFC 9293, section 3.5: simultaneous open, with both ends the same.
   */
  public static ChannelFuture connect(InetSocketAddress address, Bootstrap client) {
    var attempt = client.connect(address);
    // Not a promise of the channel's own: it may have failed before it had a loop.
    var outcome = new DefaultChannelPromise(attempt.channel(), client.config().group().next());
    attempt.addListener((ChannelFuture done) -> finish(done, outcome));
    return outcome;
  }

  @SuppressWarnings("FutureReturnValueIgnored") // A channel that does not close is closed.
  private static void finish(ChannelFuture attempt, ChannelPromise outcome) {
    var channel = attempt.channel();
    if (!attempt.isSuccess()) {
      outcome.tryFailure(attempt.cause());
    } else if (channel.localAddress() != null
        && channel.localAddress().equals(channel.remoteAddress())) {
      // First the reason: the end of the channel follows from it.
      outcome.tryFailure(new ConnectException("connection refused: nobody listens on "
          + channel.remoteAddress() + ", and the connection met itself"));
      channel.close();
    } else {
      outcome.trySuccess();
    }
  }
}
