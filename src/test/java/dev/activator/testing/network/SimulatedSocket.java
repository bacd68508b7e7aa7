package dev.activator.testing.network;

import dev.activator.testing.network.SimulatedNetwork.Answer;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.DefaultSocketChannelConfig;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The process's end of a connection. It notices the other side's end even while reading is paused,
 * as Netty's epoll transport does.
 */
public final class SimulatedSocket extends AbstractChannel implements SocketChannel {
  private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
  private static final int READS_PER_TURN = 16;

  private final SimulatedNetwork network;
  private final Config config = new Config(this);
  private final SimulatedPeer peer = new SimulatedPeer(this);
  /** How much the other side's kernel takes that is not read. */
  private final int room;
  private @Nullable InetSocketAddress local;
  private @Nullable InetSocketAddress remote;
  private @Nullable ChannelPromise connecting;
  private @Nullable ScheduledFuture<?> connectTimeout;
  private boolean active;
  private boolean open = true;
  private boolean readWanted;
  private boolean writeBlocked;
  private boolean outputShut;

  /** For Netty's bootstrap. */
  public SimulatedSocket() {
    this(SimulatedNetwork.current());
  }

  SimulatedSocket(SimulatedNetwork network) {
    super(null);
    this.network = network;
    this.room = 1 << 10 + network.random.nextInt(9);
    config.setAllocator(network.buffers);
    network.add(this);
  }

  void opened(InetSocketAddress own, InetSocketAddress other) {
    local = own;
    remote = other;
    active = true;
  }

  SimulatedPeer peer() {
    return peer;
  }

  int partOf(int bytes) {
    return network.random.nextInt(bytes + 1);
  }

  boolean isForgotten() {
    return !open;
  }

  boolean isReady() {
    return open && isRegistered() && (connecting != null && answer() != Answer.SILENCE
        || active && (isReadable() || isWriteReady()));
  }

  private boolean isReadable() {
    return peer.hasSent() && (readWanted || peer.isEnding());
  }

  private boolean isWriteReady() {
    return writeBlocked && (peer.unread() < room || peer.isGone());
  }

  private Answer answer() {
    return network.answerOf(Objects.requireNonNull(remote));
  }

  void handleReadiness() {
    if (connecting != null) {
      finishConnecting();
      return;
    }
    if (isWriteReady()) {
      writeBlocked = false;
      ((Unsafe) unsafe()).flushAgain();
    }
    if (open && active && isReadable()) {
      readBytes();
    }
  }

  private void finishConnecting() {
    var promise = Objects.requireNonNull(connecting);
    connecting = null;
    if (connectTimeout != null) {
      connectTimeout.cancel(false);
    }
    if (answer() == Answer.REFUSE) {
      promise.tryFailure(new ConnectException("Connection refused: " + remote));
      unsafe().closeForcibly();
      return;
    }
    local = network.ownAddress();
    active = true;
    network.accepted(peer);
    if (promise.trySuccess()) {
      pipeline().fireChannelActive();
    } else {
      unsafe().closeForcibly();
    }
  }

  private void readBytes() {
    boolean any = false;
    for (int i = 0; i < READS_PER_TURN && open && peer.untaken() > 0
        && (readWanted || config.isAutoRead() || peer.isEnding()); i++) {
      byte[] bytes = peer
          .take(1 + network.random.nextInt(network.random.nextInt(8) == 0 ? 7 : 4_096));
      readWanted = false;
      any = true;
      ByteBuf read = config.getAllocator().ioBuffer(bytes.length).writeBytes(bytes);
      pipeline().fireChannelRead(read);
    }
    boolean ends = open && peer.untaken() == 0 && peer.isEnding();
    if (any || ends) {
      readWanted = false;
      pipeline().fireChannelReadComplete();
    }
    if (ends && open) {
      if (peer.isCut()) {
        pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
      }
      unsafe().close(unsafe().voidPromise());
    }
  }

  @Override
  protected AbstractUnsafe newUnsafe() {
    return new Unsafe();
  }

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return true;
  }

  @Override
  protected void doBeginRead() {
    readWanted = true;
  }

  @Override
  protected void doWrite(ChannelOutboundBuffer out) throws Exception {
    while (out.current() instanceof ByteBuf buffer) {
      if (peer.isReset()) {
        throw new IOException("Broken pipe");
      }
      int length = Math.min(buffer.readableBytes(),
          peer.isClosed() ? Integer.MAX_VALUE : Math.max(0, room - peer.unread()));
      if (length == 0 && buffer.isReadable()) {
        writeBlocked = true;
        return;
      }
      byte[] bytes = new byte[length];
      buffer.getBytes(buffer.readerIndex(), bytes);
      if (length > 0) {
        peer.arrive(bytes);
      }
      out.removeBytes(length);
      if (length == 0) {
        out.remove();
      }
    }
  }

  @Override
  protected void doShutdownOutput() {
    outputShut = true;
    peer.processEnded();
  }

  @Override
  protected void doClose() {
    open = false;
    active = false;
    if (connecting != null) {
      connecting.tryFailure(new ClosedChannelException());
      connecting = null;
    }
    if (connectTimeout != null) {
      connectTimeout.cancel(false);
    }
    if (config.linger == 0 || peer.untaken() > 0) {
      peer.processReset();
    } else {
      peer.processEnded();
    }
  }

  @Override
  protected void doBind(SocketAddress address) {
    throw new UnsupportedOperationException();
  }

  @Override
  protected void doDisconnect() {
    doClose();
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public boolean isActive() {
    return active;
  }

  @Override
  public ChannelMetadata metadata() {
    return METADATA;
  }

  @Override
  public SocketChannelConfig config() {
    return config;
  }

  @Override
  public @Nullable ServerSocketChannel parent() {
    return null;
  }

  @Override
  protected @Nullable SocketAddress localAddress0() {
    return local;
  }

  @Override
  protected @Nullable SocketAddress remoteAddress0() {
    return remote;
  }

  @Override
  public InetSocketAddress localAddress() {
    return (InetSocketAddress) super.localAddress();
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return (InetSocketAddress) super.remoteAddress();
  }

  @Override
  public boolean isInputShutdown() {
    return !open;
  }

  @Override
  public boolean isOutputShutdown() {
    return outputShut || !open;
  }

  @Override
  public boolean isShutdown() {
    return !open;
  }

  @Override
  public ChannelFuture shutdownOutput() {
    return shutdownOutput(newPromise());
  }

  @Override
  public ChannelFuture shutdownOutput(ChannelPromise promise) {
    ((AbstractUnsafe) unsafe()).shutdownOutput(promise);
    return promise;
  }

  @Override
  public ChannelFuture shutdownInput() {
    throw new UnsupportedOperationException();
  }

  @Override
  public ChannelFuture shutdownInput(ChannelPromise promise) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ChannelFuture shutdown() {
    throw new UnsupportedOperationException();
  }

  @Override
  public ChannelFuture shutdown(ChannelPromise promise) {
    throw new UnsupportedOperationException();
  }

  private final class Unsafe extends AbstractUnsafe {
    void flushAgain() {
      super.flush0();
    }

    @Override
    protected void flush0() {
      if (!writeBlocked) {
        super.flush0();
      }
    }

    @Override
    public void connect(SocketAddress to, SocketAddress from, ChannelPromise promise) {
      if (!promise.setUncancellable() || !ensureOpen(promise)) {
        return;
      }
      remote = (InetSocketAddress) to;
      connecting = promise;
      int millis = config.getConnectTimeoutMillis();
      if (millis > 0) {
        connectTimeout = eventLoop().schedule(() -> {
          if (promise.tryFailure(new ConnectTimeoutException("connection timed out: " + to))) {
            connecting = null;
            closeForcibly();
          }
        }, millis, TimeUnit.MILLISECONDS);
      }
    }
  }

  /** Takes every option of a real socket. */
  private static final class Config extends DefaultSocketChannelConfig {
    private int linger = -1;
    private final SimulatedSocket socket;

    private Config(SimulatedSocket socket) {
      super(socket, new Socket());
      this.socket = socket;
    }

    @Override
    public SocketChannelConfig setTcpNoDelay(boolean on) {
      return this;
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
      if (option == ChannelOption.SO_LINGER) {
        linger = (Integer) value;
        return true;
      }
      if (option == ChannelOption.AUTO_READ || option == ChannelOption.CONNECT_TIMEOUT_MILLIS) {
        return super.setOption(option, value);
      }
      return true;
    }

    @Override
    protected void autoReadCleared() {
      socket.readWanted = false;
    }
  }
}
