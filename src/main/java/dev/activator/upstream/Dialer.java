package dev.activator.upstream;

import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.revision.Destination;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.tls.DialTarget;
import dev.activator.tls.PodTls;
import dev.activator.upstream.UpstreamPool.Dial;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.Socket;
import io.netty.resolver.DefaultAddressResolverGroup;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the connections of one event loop to pods, over TLS if that is configured. */
// A channel that fails to close was never open.
@SuppressWarnings("FutureReturnValueIgnored")
final class Dialer {
  interface DialListener {
    /** Called before the channel is connected. */
    default void addHandlers(ChannelPipeline pipeline) {}

    /** The protocols offered by ALPN; may be empty. */
    default String[] protocols() {
      return new String[0];
    }

    /** The TLS handshake is complete, and only the handlers that were added are left. */
    void connected(Channel channel);

    void failed(UpstreamFailure failure);

    default void cancelled() {}
  }

  private static final Logger log = LoggerFactory.getLogger(Dialer.class);

  private final NettyLoop loop;
  private final DialBackoff backoff;
  private final PodTls tls;
  private final Map<ChannelOption<?>, Object> options = new LinkedHashMap<>();
  /** <b>Threads.</b> Any may read it. */
  private final AtomicInteger open = new AtomicInteger();

  Dialer(NettyLoop loop, TcpKeepAlive keepAlive, DialBackoff backoff, PodTls tls) {
    this.loop = loop;
    this.backoff = backoff;
    this.tls = tls;
    options.put(ChannelOption.TCP_NODELAY, true);
    options.put(ChannelOption.SO_KEEPALIVE, true);
    options.putAll(keepAlive.options(loop.transport()));
  }

  NettyLoop loop() {
    return loop;
  }

  int openCount() {
    return open.get();
  }

  /** Dials; calls the listener later, never inside this call. */
  Dial dial(DialTarget target, DialListener listener) {
    var dial = new PendingDial(target, listener);
    loop.execute(dial::start);
    return dial;
  }

  /**
   * Makes a channel from a connected socket of the native transport. Calls the listener like
   * {@link #dial}.
   */
  void adopt(Socket socket, DialListener listener) {
    try {
      var channel = new EpollSocketChannel(socket.intValue());
      if (!channel.isActive()) {
        // The pod has reset the connection. Netty would not report the end of such a channel.
        closeUnused(socket);
        listener.failed(UpstreamFailure.BROKEN);
        return;
      }
      register(channel, listener, done -> {
        if (done.isSuccess()) {
          connected(channel, listener);
        } else {
          channel.close();
          listener.failed(UpstreamFailure.of(done.cause()));
        }
      });
    } catch (ChannelException e) {
      closeUnused(socket);
      listener.failed(UpstreamFailure.of(e));
    }
  }

  /**
   * Registers a channel with the loop. This takes half of the code that Netty's {@code Bootstrap}
   * runs, which matters while that is interpreted.
   */
  private void register(Channel channel, DialListener listener, ChannelFutureListener registered) {
    options.forEach((option, value) -> set(channel, option, value));
    listener.addHandlers(channel.pipeline());
    loop.eventLoop().register(channel).addListener(registered);
  }

  static void closeUnused(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // The socket is closed even then.
    }
  }

  /** A connection works without an option that the kernel refuses, as in some sandboxes. */
  @SuppressWarnings("unchecked") // The options are put with values of their types.
  private static <T> void set(Channel channel, ChannelOption<T> option, Object value) {
    try {
      channel.config().setOption(option, (T) value);
    } catch (ChannelException e) {
      log.warn("A connection to a pod does not have the option {}: {}", option, e.toString());
    }
  }

  private void connected(Channel channel, DialListener listener) {
    open.incrementAndGet();
    channel.closeFuture().addListener(_ -> open.decrementAndGet());
    listener.connected(channel);
  }

  /** The address of a destination. Pods have IP addresses; other names are resolved on connecting. */
  static InetSocketAddress addressOf(Destination destination) {
    byte[] bytes = NetUtil.createByteArrayFromIpAddressString(destination.host());
    if (bytes == null) {
      return InetSocketAddress.createUnresolved(destination.host(), destination.port());
    }
    try {
      return new InetSocketAddress(InetAddress.getByAddress(bytes), destination.port());
    } catch (UnknownHostException e) {
      throw new IllegalStateException("neither 4 nor 16 bytes: " + destination, e);
    }
  }

  /**
   * A dial. It makes another attempt when there is no answer for a while, and lets the earlier ones
   * go on: a packet may be lost, or the pod be far away. The first that connects wins.
   */
  private final class PendingDial implements Dial {
    private final DialTarget target;
    private final InetSocketAddress address;
    private final DialListener listener;
    /** The attempts that go on, oldest first; during the handshake the one that has connected. */
    private final ArrayDeque<SocketChannel> connecting = new ArrayDeque<>(DialBackoff.AT_ONCE);
    private int attempts;
    private boolean over;
    private boolean inHandshake;
    private Loop.@Nullable Timer next;

    private PendingDial(DialTarget target, DialListener listener) {
      this.target = target;
      this.address = addressOf(target.destination());
      this.listener = listener;
    }

    @Override
    public void cancel() {
      if (!over) {
        end();
        listener.cancelled();
      }
    }

    private void end() {
      over = true;
      stop();
    }

    private void stop() {
      if (next != null) {
        next.cancel();
      }
      for (var attempt = connecting.poll(); attempt != null; attempt = connecting.poll()) {
        attempt.close();
      }
    }

    @Override
    public long graceNanos() {
      return inHandshake && !over ? DialBackoff.graceNanos(0) : 0;
    }

    private void start() {
      if (over) {
        return;
      }
      if (attempts == DialBackoff.ATTEMPTS) {
        failed(new ConnectTimeoutException("no answer to " + attempts + " attempts"));
        return;
      }
      next = loop.schedule(backoff.untilNext(attempts), this::start);
      attempts++;
      SocketChannel channel;
      try {
        channel = loop.newSocket();
      } catch (ChannelException e) {
        // As without a free file descriptor. Earlier attempts may still connect.
        if (connecting.isEmpty()) {
          failed(e);
        }
        return;
      }
      if (connecting.size() == DialBackoff.AT_ONCE) {
        connecting.remove().close();
      }
      connecting.add(channel);
      // The next attempt limits the time, not Netty.
      channel.config().setConnectTimeoutMillis(0);
      register(channel, listener, done -> {
        if (done.isSuccess()) {
          resolve(channel);
        } else {
          finished(channel, done.cause());
        }
      });
    }

    /** Pods have IP addresses, so there is a name to look up only for other destinations. */
    private void resolve(SocketChannel channel) {
      if (address.isUnresolved()) {
        DefaultAddressResolverGroup.INSTANCE.getResolver(channel.eventLoop()).resolve(address)
            .addListener((Future<InetSocketAddress> found) -> {
              if (found.isSuccess()) {
                connect(channel, found.getNow());
              } else {
                finished(channel, found.cause());
              }
            });
      } else {
        connect(channel, address);
      }
    }

    private void connect(SocketChannel channel, InetSocketAddress to) {
      channel.connect(to).addListener((ChannelFuture done) -> finished(channel,
          done.isSuccess() ? NettyTransport.refusal(channel) : done.cause()));
    }

    /** @param failure null if the socket is connected */
    private void finished(SocketChannel channel, @Nullable Throwable failure) {
      if (!connecting.remove(channel)) {
        channel.close();
      } else if (failure != null) {
        channel.close();
        // Another may still connect, unless the pod itself refuses; as without a free port.
        if (connecting.isEmpty() || UpstreamFailure.of(failure) == UpstreamFailure.REFUSED) {
          failed(failure);
        }
      } else {
        stop();
        if (target.identity() == null) {
          connected(channel);
        } else {
          connecting.add(channel);
          secure(channel, target.identity());
        }
      }
    }

    private void connected(Channel channel) {
      over = true;
      Dialer.this.connected(channel, listener);
    }

    private void secure(Channel channel, PodIdentity identity) {
      var handler = tls.handler(channel.alloc(), identity, listener.protocols());
      handler.setHandshakeTimeoutMillis(DialBackoff.HANDSHAKE_TIMEOUT.toMillis());
      inHandshake = true;
      channel.pipeline().addLast(new HandshakeErrors());
      handler.handshakeFuture().addListener((Future<Channel> done) -> secured(channel, done));
      channel.pipeline().addFirst(handler);
    }

    private void secured(Channel channel, Future<Channel> done) {
      if (over) {
        channel.close();
      } else if (done.isSuccess()) {
        channel.pipeline().remove(HandshakeErrors.class);
        connected(channel);
      } else {
        channel.close();
        failed(done.cause());
      }
    }

    private void failed(Throwable cause) {
      var failure = UpstreamFailure.of(cause);
      if (inHandshake && failure == UpstreamFailure.BROKEN) {
        // The pod has closed the connection.
        failure = UpstreamFailure.TLS_FAILED;
      }
      log.debug("Cannot connect to {}: {}", address, cause.toString());
      if (failure.isOfHandshake()) {
        tls.failed(address, cause, loop.nanoTime());
      }
      end();
      listener.failed(failure);
    }
  }

  /** Logs errors of the handshake. The handshake's future notifies the listener. */
  private static final class HandshakeErrors extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      log.debug("The handshake with {} failed: {}", context.channel().remoteAddress(),
          cause.toString());
    }
  }

  /**
   * When attempts to connect to a pod begin. The first follow each other quickly, so that a packet
   * that is lost while a pod's network is set up costs 50 ms and not a second. TLS handshakes have
   * their own timeout, and are not repeated.
   *
   * <p><b>Source.</b> {@code dialBackOffHelper} in Knative networking's {@code transports.go}. It
   * ends each attempt before the next one, which takes long if the pod is far away.
   *
   * @param random spreads simultaneous attempts
   */
  record DialBackoff(RandomGenerator random) {
    /** The number of attempts; they take about 20 seconds together. */
    static final int ATTEMPTS = 16;
    /** So each attempt has at least a quarter of a second. */
    static final int AT_ONCE = 4;

    /**
     * The timeout of a TLS handshake. It is longer than that of an attempt: a pod with little CPU,
     * such as one that starts, may need most of a second to sign.
     */
    static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(5);

    private static final Duration AFTER_HANDSHAKE = Duration.ofSeconds(1);
    private static final double FIRST_MILLIS = 50;
    private static final double GROWTH = 1.4;
    private static final double JITTER = 0.1;
    private static final double NANOS_PER_MILLI = 1e6;

    /** @param attempt the number of the attempt that begins now, from 0 */
    Duration untilNext(int attempt) {
      double base = FIRST_MILLIS * Math.pow(GROWTH, Math.max(0, attempt - 1));
      return Duration.ofNanos(
          (long) (base * (1 + JITTER * random.nextDouble()) * NANOS_PER_MILLI));
    }

    /** How much longer to wait after a handshake for the pod's SETTINGS; 0 if the time is over. */
    static long graceNanos(long sinceHandshakeNanos) {
      return Math.max(0, AFTER_HANDSHAKE.toNanos() - sinceHandshakeNanos);
    }
  }
}
