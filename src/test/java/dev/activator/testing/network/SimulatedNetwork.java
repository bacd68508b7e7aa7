package dev.activator.testing.network;

import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.NettyTransport;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The event loop of a process, its clock, and the sockets of both sides of its connections. Nothing
 * happens outside {@link #turn} and {@link #advance}.
 *
 * <p><b>Threads.</b> The one that made it.
 */
public final class SimulatedNetwork {
  /** What happens to a connection to a pod. */
  public enum Answer {
    ACCEPT,
    REFUSE,
    SILENCE
  }

  private static final InetSocketAddress OWN = new InetSocketAddress("127.0.0.1", 8012);

  /** Of the thread, as Netty's bootstrap makes the sockets of a dial without arguments. */
  private static final ThreadLocal<SimulatedNetwork> CURRENT = new ThreadLocal<>();

  final Random random;
  final UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(false, true);
  private final MockTicker clock = Ticker.newMockTicker();
  private final ManualIoEventLoop eventLoop = new ManualIoEventLoop(null, Thread.currentThread(),
      _ -> new Readiness(), clock);
  private final NettyLoop loop = new VirtualNettyLoop();
  private final List<SimulatedSocket> sockets = new ArrayList<>();
  private Function<InetSocketAddress, Answer> answer = _ -> Answer.REFUSE;
  private Consumer<SimulatedPeer> accepted = _ -> {
  };
  private int nextPort = 10_000;

  public SimulatedNetwork(Random random) {
    this.random = random;
    CURRENT.set(this);
  }

  static SimulatedNetwork current() {
    return CURRENT.get();
  }

  public NettyLoop loop() {
    return loop;
  }

  public LoopGroup loops() {
    return new LoopGroup(List.of(loop));
  }

  public long nanoTime() {
    return clock.nanoTime();
  }

  /** How pods answer the process's attempts to connect, and who serves what is accepted. */
  public void pods(Function<InetSocketAddress, Answer> how, Consumer<SimulatedPeer> whenAccepted) {
    answer = how;
    accepted = whenAccepted;
  }

  /** A connection to the process. */
  public SimulatedPeer connect(Consumer<Channel> server) {
    var socket = new SimulatedSocket(this);
    socket.opened(OWN, new InetSocketAddress("127.0.0.1", nextPort++));
    socket.pipeline().addLast(new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        server.accept(channel);
      }
    });
    var _ = eventLoop.register(socket);
    return socket.peer();
  }

  /** One round of the event loop: the sockets that are ready, and the tasks that are due. */
  public void turn() {
    eventLoop.runNow();
  }

  /** Rounds until nothing is left to do now. */
  public void settle() {
    int rounds = 0;
    while (isReady() || eventLoop.runNow() > 0) {
      eventLoop.runNow();
      if (++rounds > 20_000) {
        throw new AssertionError("the event loop does not come to rest");
      }
    }
  }

  private boolean isReady() {
    return sockets.stream().anyMatch(SimulatedSocket::isReady);
  }

  public void advance(Duration by) {
    clock.advance(by.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Connections that the process has open. */
  public List<SimulatedPeer> open() {
    return sockets.stream().filter(Channel::isOpen).map(SimulatedSocket::peer).toList();
  }

  /** Bytes in buffers of the process that were not released. */
  public long usedMemory() {
    return buffers.metric().usedHeapMemory() + buffers.metric().usedDirectMemory();
  }

  void add(SimulatedSocket socket) {
    sockets.add(socket);
  }

  Answer answerOf(InetSocketAddress pod) {
    return answer.apply(pod);
  }

  InetSocketAddress ownAddress() {
    return new InetSocketAddress("127.0.0.1", nextPort++);
  }

  void accepted(SimulatedPeer pod) {
    accepted.accept(pod);
  }

  private final class VirtualNettyLoop extends NettyLoop {
    private VirtualNettyLoop() {
      super(eventLoop);
    }

    @Override
    public long nanoTime() {
      return clock.nanoTime();
    }

    @Override
    public NettyTransport transport() {
      return new NettyTransport(SimulatedSocket.class, ServerSocketChannel.class);
    }

    @Override
    public SocketChannel newSocket() {
      return new SimulatedSocket();
    }
  }

  /** As epoll: reports the sockets that can be read or written. */
  private final class Readiness implements IoHandler {
    @Override
    public int run(IoHandlerContext context) {
      int handled = 0;
      for (var socket : List.copyOf(sockets)) {
        if (socket.isReady()) {
          socket.handleReadiness();
          handled++;
        }
      }
      sockets.removeIf(SimulatedSocket::isForgotten);
      return handled;
    }

    @Override
    public IoRegistration register(IoHandle handle) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void wakeup() {
      // Never blocks.
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handle) {
      return false;
    }
  }
}
