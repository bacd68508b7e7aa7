package dev.activator.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TcpKeepAliveTest {
  @ParameterizedTest
  @ValueSource(strings = {"native", "Java's"})
  void isWhatTheKernelHasOfAConnection(String transport) throws Exception {
    assumeTrue(transport.equals("Java's") || Epoll.isAvailable(), "the native one is not there");
    var group = new MultiThreadIoEventLoopGroup(1,
        transport.equals("native") ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var kind = NettyTransport.of(group.next());
      var options = new TcpKeepAlive(Duration.ofSeconds(7), Duration.ofSeconds(3), 4).options(kind);
      var client = new Bootstrap().group(group).channel(kind.socket())
          .option(ChannelOption.SO_KEEPALIVE, true).handler(new ChannelInboundHandlerAdapter());
      options.forEach(client::option);

      var channel = client.connect(server.getLocalSocketAddress()).sync().channel();

      // Read from the socket, not from what was asked for.
      assertThat(channel.config().getOption(ChannelOption.SO_KEEPALIVE)).isTrue();
      options.keySet().forEach(option -> assertThat(channel.config().getOption(option))
          .as(option.name()).isEqualTo(options.get(option)));
      assertThat(options.values()).containsExactlyInAnyOrder(7, 3, 4);
      channel.close().sync();
    } finally {
      group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }
  }
}
