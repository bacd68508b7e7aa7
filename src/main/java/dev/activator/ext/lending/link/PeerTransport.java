package dev.activator.ext.lending.link;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.activator.throttle.PeerSnapshot.State;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.loop.LogLimit;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.NettyTransport;
import dev.activator.wire.PeerFrame;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.NetUtil;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The port for other activators, and the connections to their ports, which have the same number.
 * Both sides show a certificate in TLS, and then exchange frames. The port accepts connections only
 * from addresses of activators, and from loopback, because a mesh's sidecar connects from there.
 *
 * <p><b>Threads.</b> All channels run on the loop; {@link #open} and {@link #close} are called on
 * another thread.
 *
 * <p><b>Errors.</b> Errors are logged. A connection that fails is closed.
 */
// A failure arrives as channelInactive.
@SuppressWarnings("FutureReturnValueIgnored")
public final class PeerTransport {
  /**
   * Enough for a borrower's permits of tens of thousands of pods. Only a sender that has the key
   * can send a frame.
   */
  static final int MAX_FRAME_BYTES = 4 << 20;
  private static final int LENGTH_BYTES = 4;
  /**
   * The limit for a peer that does not read. It is more than the messages of tens of thousands of
   * revisions.
   */
  private static final int MAX_UNSENT_BYTES = 16 << 20;
  static final int MAX_ACCEPTED = 256;
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);
  private static final Logger log = LoggerFactory.getLogger(PeerTransport.class);

  private final NettyLoop loop;
  private final PeerTls tls;
  private final int port;
  private final String host;
  private final ChannelGroup accepted;
  /** The accepted connections that have not proved yet that they have the key; the oldest first. */
  private final Set<Channel> strangers = new LinkedHashSet<>();
  private final PeerNetwork network;
  private final LogLimit refusals = new LogLimit();
  private volatile @Nullable Channel listener;

  /**
   * @param host the address to listen on
   * @param port the port of all activators
   * @param key makes {@code tls} use the current key; completes with the problem, or with an empty
   *     text
   */
  public PeerTransport(NettyLoop loop, PeerTls tls, String host, int port, PeerNetwork.Self self,
      Supplier<CompletableFuture<String>> key, RandomGenerator random) {
    this.loop = loop;
    this.tls = tls;
    this.host = host;
    this.port = port;
    this.accepted = new DefaultChannelGroup(loop.eventLoop());
    this.network = new PeerNetwork(loop, self, this::dial, key, random);
  }

  public PeerNetwork network() {
    return network;
  }

  /**
   * Listens, and starts to dial. Call when all existing addresses are known. If the port cannot be
   * opened, this activator still dials.
   */
  public void open() {
    var transport = loop.transport();
    var server = new ServerBootstrap().group(loop.eventLoop()).channel(transport.server())
        .option(ChannelOption.SO_REUSEADDR, true).childOption(ChannelOption.TCP_NODELAY, true)
        .childOption(ChannelOption.SO_KEEPALIVE, true)
        .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
        .childHandler(new ChannelInitializer<Channel>() {
          @Override
          protected void initChannel(Channel channel) {
            accept(channel);
          }
        });
    TcpKeepAlive.TO_PODS.options(transport).forEach(server::childOption);
    var bound = server.bind(host, port).awaitUninterruptibly();
    if (bound.isSuccess()) {
      listener = bound.channel();
    } else {
      log.warn("activator.lending.port is {}, but cannot listen on {}:{}, so that other activators"
          + " cannot connect: {}", port, host, port, bound.cause().getMessage());
    }
    loop.execute(() -> network.start(bound.isSuccess()));
  }

  /** Call when no request is left. */
  public void close() {
    var listening = listener;
    if (listening != null) {
      listening.close();
    }
    CompletableFuture.runAsync(network::close, loop)
        .completeOnTimeout(null, CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).join();
  }

  private void accept(Channel channel) {
    var from = ((InetSocketAddress) channel.remoteAddress()).getAddress();
    boolean isKnown = from.isLoopbackAddress()
        || network.isKnown(NetUtil.toAddressString(from));
    if (!isKnown || accepted.size() >= MAX_ACCEPTED && !closeOldestStranger()) {
      channel.close();
      return;
    }
    var handler = tls.server(channel.alloc());
    if (handler == null) {
      network.requestKeyForAccepted();
      channel.close();
      return;
    }
    accepted.add(channel);
    strangers.add(channel);
    var socket = new Socket(channel, true);
    socket.events = network.accepted(socket);
    addHandlers(socket, handler);
  }

  /**
   * Makes room for a new connection, so that strangers that hold all connections cannot keep
   * activators out.
   */
  private boolean closeOldestStranger() {
    var oldest = strangers.isEmpty() ? null : strangers.iterator().next();
    if (oldest == null) {
      return false;
    }
    strangers.remove(oldest);
    accepted.remove(oldest);
    oldest.close();
    return true;
  }

  private static void addHandlers(Socket socket, SslHandler tls) {
    tls.setHandshakeTimeoutMillis(PeerLink.HELLO_TIMEOUT.toMillis());
    socket.channel.config()
        .setWriteBufferWaterMark(new WriteBufferWaterMark(MAX_UNSENT_BYTES / 2, MAX_UNSENT_BYTES));
    socket.channel.pipeline().addLast(tls,
        new LengthFieldBasedFrameDecoder(MAX_FRAME_BYTES, 0, LENGTH_BYTES, 0, LENGTH_BYTES),
        socket);
  }

  private PeerSocket dial(String address, PeerSocket.Events events) {
    var transport = loop.transport();
    var client = new Bootstrap().group(loop.eventLoop()).channel(transport.socket())
        .option(ChannelOption.TCP_NODELAY, true).option(ChannelOption.SO_KEEPALIVE, true)
        .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) CONNECT_TIMEOUT.toMillis());
    TcpKeepAlive.TO_PODS.options(transport).forEach(client::option);
    var attempt = new Attempt(events);
    client.handler(new ChannelInitializer<Channel>() {
      @Override
      protected void initChannel(Channel channel) {
        var handler = tls.client(channel.alloc());
        if (handler == null) {
          channel.close();
          return;
        }
        attempt.socket = new Socket(channel, false);
        attempt.socket.events = events;
        addHandlers(attempt.socket, handler);
      }
    });
    loop.execute(() -> attempt.begin(client, new InetSocketAddress(address, port)));
    return attempt;
  }

  private static State stateOf(Throwable failure) {
    if (failure instanceof ConnectException && !(failure instanceof ConnectTimeoutException)
        && String.valueOf(failure.getMessage()).contains("refused")) {
      return State.LEGACY;
    }
    if (failure instanceof NotSslRecordException) {
      return State.LEGACY;
    }
    return failure instanceof SSLException ? State.UNAUTHORISED : State.UNREACHABLE;
  }

  /** A connection that this side is opening. */
  private static final class Attempt implements PeerSocket {
    private final PeerSocket.Events events;
    private @Nullable Socket socket;
    private boolean closed;

    Attempt(PeerSocket.Events events) {
      this.events = events;
    }

    void begin(Bootstrap client, InetSocketAddress address) {
      if (!closed) {
        NettyTransport.connect(address, client).addListener((ChannelFuture done) -> {
          if (!done.isSuccess() && !closed) {
            var state = stateOf(done.cause());
            events.closed(state, state == State.LEGACY
                ? "nothing listens on port " + address.getPort()
                : String.valueOf(done.cause().getMessage()));
          }
        });
      }
    }

    @Override
    public void send(PeerFrame frame) {
      if (socket != null) {
        socket.send(frame);
      }
    }

    @Override
    public void close() {
      closed = true;
      if (socket != null) {
        socket.close();
      }
    }
  }

  private final class Socket extends SimpleChannelInboundHandler<ByteBuf>
      implements PeerSocket {
    private final Channel channel;
    private final boolean isAccepted;
    private PeerSocket.@Nullable Events events;
    private boolean opened;
    private boolean flushing;
    private boolean closed;
    private State state = State.UNREACHABLE;
    private String why = "the other side closed it";

    Socket(Channel channel, boolean isAccepted) {
      this.channel = channel;
      this.isAccepted = isAccepted;
    }

    private PeerSocket.Events events() {
      return Objects.requireNonNull(events);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
      if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()
          && !closed) {
        opened = true;
        strangers.remove(channel);
        events().opened();
      } else if (event instanceof SslCloseCompletionEvent) {
        // The other process is alive and closes the connection.
        channel.close();
      } else if (event == ChannelInputShutdownEvent.INSTANCE && !closed) {
        events().finished();
        channel.close();
      }
      super.userEventTriggered(context, event);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes)
        throws InvalidProtocolBufferException {
      if (!closed) {
        events().received(PeerFrame.parseFrom(bytes.nioBuffer()));
      }
    }

    @Override
    public void send(PeerFrame frame) {
      if (closed || !opened) {
        return;
      }
      if (!channel.isWritable()) {
        fail(State.UNREACHABLE, "it does not read");
        return;
      }
      int length = frame.getSerializedSize();
      var bytes = channel.alloc().buffer(LENGTH_BYTES + length);
      bytes.writeInt(length).writeBytes(frame.toByteArray());
      channel.write(bytes);
      if (!flushing) {
        // All frames of a turn are sent in one TLS record, with one system call.
        flushing = true;
        channel.eventLoop().execute(() -> {
          flushing = false;
          channel.flush();
        });
      }
    }

    private void fail(State now, String text) {
      state = now;
      why = text;
      channel.close();
    }

    @Override
    public void close() {
      closed = true;
      channel.flush();
      channel.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var root = cause instanceof DecoderException && cause.getCause() != null
          ? cause.getCause()
          : cause;
      log.debug("The connection with {} failed", channel.remoteAddress(), cause);
      if (root instanceof TooLongFrameException) {
        fail(State.UNREACHABLE, "a frame of more than " + MAX_FRAME_BYTES + " bytes");
      } else if (root instanceof InvalidProtocolBufferException) {
        fail(State.UNREACHABLE, "a malformed frame");
      } else {
        // The exception's own text would contain the received bytes.
        var text = root instanceof NotSslRecordException
            ? "it speaks no TLS"
            : String.valueOf(root.getMessage());
        fail(stateOf(root), text);
        if (isAccepted && !opened && !closed) {
          if (root instanceof SSLException) {
            // The peer may be an activator that has a newer key.
            network.requestKeyForAccepted();
          }
          refusals.log(loop.nanoTime(), others -> log.warn(
              "Refused a connection from {}, which is no activator or has another key: {}. {} other"
                  + " connections were refused since the last such line",
              NettyTransport.text(channel.remoteAddress()), text, others));
        }
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
      strangers.remove(channel);
      if (!closed) {
        closed = true;
        events().closed(state, why);
      }
      super.channelInactive(context);
    }
  }
}
