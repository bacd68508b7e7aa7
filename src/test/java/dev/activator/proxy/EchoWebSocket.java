package dev.activator.proxy;

import dev.activator.revision.Destination;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import java.io.Closeable;
import java.net.InetSocketAddress;

/** A pod with a WebSocket that says back what it hears, frame by frame, and insists on the rules. */
final class EchoWebSocket implements Closeable {
  private static final int LONGEST_FRAME_BYTES = 32 << 20;

  private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final Channel listening;

  EchoWebSocket() {
    var rules = WebSocketServerProtocolConfig.newBuilder().websocketPath("/").checkStartsWith(true)
        .decoderConfig(WebSocketDecoderConfig.newBuilder()
            .maxFramePayloadLength(LONGEST_FRAME_BYTES).withUTF8Validator(true).build())
        .sendCloseFrame(null)
        .build();
    listening = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
        .childHandler(new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel connection) {
            connection.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 16),
                new WebSocketServerProtocolHandler(rules), new Echo());
          }
        }).bind("127.0.0.1", 0).syncUninterruptibly().channel();
  }

  Destination destination() {
    return new Destination("127.0.0.1",
        ((InetSocketAddress) listening.localAddress()).getPort());
  }

  @Override
  public void close() {
    group.shutdownGracefully().awaitUninterruptibly();
  }

  private static final class Echo extends SimpleChannelInboundHandler<WebSocketFrame> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
      context.write(frame.retain(), context.voidPromise());
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      context.flush();
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored")
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }
}
