package dev.activator.loop;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.NetUtil;
import java.lang.reflect.Method;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The channel types that an event loop can run, and functions to connect and close channels. */
public record NettyTransport(Class<? extends SocketChannel> socket,
    Class<? extends ServerSocketChannel> server) {
  private static final NettyTransport NIO = new NettyTransport(NioSocketChannel.class,
      NioServerSocketChannel.class);

  // net/tcp_states.h of Linux.
  private static final int TCP_FIN_WAIT2 = 5;
  private static final int TCP_CLOSE = 7;
  /** The states in which the peer has not confirmed the end of our output. */
  private static final Set<Integer> TCP_ENDING = Set.of(4, 9, 11);

  /** Why Linux's native transport is not used; empty if it is used, or on another system. */
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

  public static NettyTransport of(EventLoop eventLoop) {
    return eventLoop instanceof IoEventLoop io && io.isIoType(EpollIoHandler.class)
        ? new NettyTransport(EpollSocketChannel.class, EpollServerSocketChannel.class)
        : NIO;
  }

  /**
   * Closes the connection with a reset. The kernel drops unsent bytes, and TLS does not wait to
   * send close_notify.
   */
  public static void reset(Channel channel) {
    // The option of a closed channel cannot be set.
    if (channel.isOpen()) {
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
      cut(channel);
    }
  }

  /**
   * Closes without close_notify, so that a body that ends with the TLS connection does not look
   * complete.
   */
  public static void cut(Channel channel) {
    var first = channel.pipeline().firstContext();
    if (first != null) {
      var _ = first.close();
    }
  }

  /** Ends the output; TLS sends close_notify. The other side may still send. */
  public static void endOutput(Channel channel) {
    var tls = channel.pipeline().get(SslHandler.class);
    if (tls == null) {
      var _ = ((DuplexChannel) channel).shutdownOutput();
    } else {
      var _ = tls.closeOutbound()
          .addListener(_ -> ((DuplexChannel) channel).shutdownOutput());
    }
  }

  /** Lets the other side end its output while ours goes on. Its end is an event. */
  public static void allowHalfClosure(Channel channel) {
    channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
  }

  /**
   * Keeps a socket whose input has ended able to write. Netty's epoll removes a socket for which it
   * awaits no event, and cannot add it again, so that a write that must wait fails. One flag that
   * is never cleared prevents that.
   *
   * <p><b>Source.</b> {@code submit} in {@code EpollIoHandler} of Netty 4.2.18 to 4.2.20.
   */
  public static void keepWriting(Channel halfClosed) {
    if (halfClosed instanceof EpollSocketChannel) {
      try {
        EpollFlags.SETTER.invoke(halfClosed, EpollIoOps.EPOLLET.value());
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("Netty's epoll has changed", e);
      }
    }
  }

  private static final class EpollFlags {
    static final Method SETTER = setter();

    private static Method setter() {
      try {
        var setter = EpollSocketChannel.class.getSuperclass().getSuperclass()
            .getDeclaredMethod("setFlag", int.class);
        setter.setAccessible(true);
        return setter;
      } catch (NoSuchMethodException e) {
        throw new IllegalStateException("Netty's epoll has changed", e);
      }
    }
  }

  /** The number of written bytes that the kernel has not taken yet. */
  public static long unsentBytes(Channel channel) {
    var queue = channel.unsafe().outboundBuffer();
    return queue == null ? 0 : queue.totalPendingWriteBytes();
  }

  /**
   * Whether the kernel has sent bytes in the last milliseconds to a peer that is still there. The
   * kernel takes more of the unsent bytes only when the peer has read a third of its buffer, which
   * may be megabytes. Without Linux's native transport it is unknown, and false.
   */
  public static boolean hasSent(Channel channel, long lastMillis) {
    if (!(channel instanceof EpollSocketChannel socket)) {
      return false;
    }
    try {
      var info = socket.tcpInfo();
      return Math.max(info.lastDataSent(), info.lastAckRecv()) < lastMillis;
    } catch (ChannelException e) {
      return false;
    }
  }

  /**
   * Whether the peer has reset the connection, or is found to be gone. Without Linux's native
   * transport it is unknown, and false.
   */
  public static boolean isReset(Channel channel) {
    return tcpState(channel) == TCP_CLOSE;
  }

  /**
   * Whether the peer's kernel has not confirmed all of an output that has ended. Without Linux's
   * native transport it is unknown, and false.
   */
  public static boolean isEnding(Channel channel) {
    return TCP_ENDING.contains(tcpState(channel));
  }

  /**
   * Whether the peer's kernel has confirmed all of an output that has ended, and its own goes on. Without
   * Linux's native transport it is unknown, and false.
   */
  public static boolean hasEndedOutput(Channel channel) {
    return tcpState(channel) == TCP_FIN_WAIT2;
  }

  /** 0 if it is unknown. */
  private static int tcpState(Channel channel) {
    if (!channel.isOpen() || !(channel instanceof EpollSocketChannel socket)) {
      return 0;
    }
    try {
      return socket.tcpInfo().state();
    } catch (ChannelException e) {
      return 0;
    }
  }

  /** A socket that is not connected yet. */
  SocketChannel newSocket() {
    return socket == EpollSocketChannel.class ? new EpollSocketChannel() : new NioSocketChannel();
  }

  /** Connects. See {@link #refusal}. */
  public static ChannelFuture connect(InetSocketAddress address, Bootstrap client) {
    var attempt = client.connect(address);
    // A new promise, because the channel may have failed before it had a loop.
    var outcome = new DefaultChannelPromise(attempt.channel(), client.config().group().next());
    attempt.addListener((ChannelFuture done) -> finish(done, outcome));
    return outcome;
  }

  /** An address for the log: {@code 10.0.0.7:8080}, {@code [fd00::7]:8080}. */
  public static String text(@Nullable SocketAddress address) {
    return address instanceof InetSocketAddress internet
        ? NetUtil.toSocketAddressString(internet)
        : String.valueOf(address);
  }

  /**
   * Why a connection counts as refused although it is open; null if it does not. If a port of this
   * machine has no listener, an attempt from that same port connects the socket to itself, and
   * would read what it writes.
   *
   * <p><b>Source.</b> RFC 9293, section 3.5: simultaneous open, with both ends the same.
   */
  public static @Nullable ConnectException refusal(Channel connected) {
    return connected.localAddress() != null
        && connected.localAddress().equals(connected.remoteAddress())
            ? new ConnectException("connection refused: nothing listens on "
                + connected.remoteAddress() + " (the socket connected to itself)")
            : null;
  }

  @SuppressWarnings("FutureReturnValueIgnored") // A failed close needs no handling.
  private static void finish(ChannelFuture attempt, ChannelPromise outcome) {
    var channel = attempt.channel();
    if (!attempt.isSuccess()) {
      outcome.tryFailure(attempt.cause());
    } else if (refusal(channel) instanceof ConnectException refused) {
      // Fails before the close, which would report another reason.
      outcome.tryFailure(refused);
      channel.close();
    } else {
      outcome.trySuccess();
    }
  }
}
