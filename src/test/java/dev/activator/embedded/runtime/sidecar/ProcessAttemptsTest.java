package dev.activator.embedded.runtime.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.Sockets;
import dev.activator.embedded.runtime.policy.UserProbe;
import dev.activator.loop.NettyLoop;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.netty.resources.LoopResources;

class ProcessAttemptsTest {
  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());

  @AfterEach
  void stop() {
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  @Test
  void aTryThatMeetsItselfFindsNobody() throws Exception {
    // given a process that does not listen yet, and a connection that leaves from its port
    var address = portOfNobody();
    var tries = tries(address, FromWhereItGoes.class);

    // when it is tried, then nobody is there
    assertThat(ready(tries)).isFalse();
  }

  @Test
  void aTryFindsWhoListens() throws Exception {
    try (var process = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var tries = tries((InetSocketAddress) process.getLocalSocketAddress(),
          NioSocketChannel.class);

      assertThat(ready(tries)).isTrue();
    }
  }

  private ProcessAttempts tries(InetSocketAddress address,
      Class<? extends SocketChannel> channels) {
    var sockets = Sockets.of(new TestResources(group, channels));
    return new ProcessAttempts(sockets, new NettyLoop(group.next()), address, UserProbe.TCP);
  }

  private boolean ready(ProcessAttempts tries) throws Exception {
    var ready = new CompletableFuture<Boolean>();
    group.next().execute(() -> tries.start(Duration.ofSeconds(30), ready::complete));
    return ready.get(30, TimeUnit.SECONDS);
  }

  private static InetSocketAddress portOfNobody() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return (InetSocketAddress) socket.getLocalSocketAddress();
    }
  }

  /** A connection that leaves from the address it goes to. */
  public static final class FromWhereItGoes extends NioSocketChannel {
    @Override
    protected boolean doConnect(SocketAddress remote, SocketAddress local) throws Exception {
      return super.doConnect(remote, remote);
    }
  }

  private record TestResources(EventLoopGroup group,
      Class<? extends SocketChannel> channels) implements LoopResources {
    @Override
    public EventLoopGroup onServer(boolean useNative) {
      return group;
    }

    @Override
    @SuppressWarnings("unchecked") // It is asked for connections and, in vain, for listeners.
    public <T extends Channel> Class<? extends T> onChannelClass(Class<T> type,
        EventLoopGroup loops) {
      return (Class<? extends T>) channels;
    }
  }
}
