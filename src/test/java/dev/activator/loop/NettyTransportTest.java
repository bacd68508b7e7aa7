package dev.activator.loop;

import dev.activator.testing.FreePort;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NettyTransportTest {
  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final EventLoop loop = group.next();
  private final CountDownLatch closed = new CountDownLatch(1);

  @AfterEach
  void stop() {
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  @Test
  void writesAddressesAsInUrls() {
    assertThat(NettyTransport.text(new InetSocketAddress("10.0.0.7", 80))).isEqualTo("10.0.0.7:80");
    assertThat(NettyTransport.text(new InetSocketAddress("fd00:0:0::7", 80)))
        .isEqualTo("[fd00::7]:80");
    assertThat(NettyTransport.text(null)).isEqualTo("null");
  }

  @Test
  void aConnectionThatLeavesFromWhereItGoesMeetsItself() throws Exception {
    // given a port nobody listens on
    var address = new InetSocketAddress("127.0.0.1", FreePort.next());

    // when a client happens to leave from that very port, then it is connected
    var connected = client().connect(address, address).await();
    assertThat(connected.cause()).isNull();
    connected.channel().close();
  }

  @Test
  void refusesAConnectionThatMetItself() throws Exception {
    var address = new InetSocketAddress("127.0.0.1", FreePort.next());

    var connected = NettyTransport.connect(address, client().localAddress(address)).await();

    assertThat(connected.cause()).isInstanceOf(ConnectException.class)
        .hasMessageContaining("refused");
    assertThat(closed.await(120, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void resetsNoConnectionThatIsClosedAlready() throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var channel = NettyTransport
          .connect((InetSocketAddress) server.getLocalSocketAddress(), client()).sync().channel();
      channel.close().sync();

      assertThatCode(() -> NettyTransport.reset(channel)).doesNotThrowAnyException();
    }
  }

  @Test
  void connectsToOthers() throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var connected = NettyTransport
          .connect((InetSocketAddress) server.getLocalSocketAddress(), client()).await();

      assertThat(connected.cause()).isNull();
      assertThat(connected.channel().isActive()).isTrue();
      // Before the server, whose end would be a reset that no handler expects.
      connected.channel().close().await();
    }
  }

  @Test
  void failsAsTheAttemptDoes() throws Exception {
    var connected = NettyTransport
        .connect(new InetSocketAddress("127.0.0.1", FreePort.next()), client())
        .await();

    assertThat(connected.cause()).isInstanceOf(ConnectException.class);
  }

  private Bootstrap client() {
    return new Bootstrap().group(loop).channel(NioSocketChannel.class)
        .handler(new ChannelInitializer<>() {
          @Override
          protected void initChannel(io.netty.channel.Channel channel) {
            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
              @Override
              public void channelInactive(ChannelHandlerContext context) {
                closed.countDown();
              }
            });
          }
        });
  }
}
