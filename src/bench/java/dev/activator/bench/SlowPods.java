package dev.activator.bench;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Pods that take a while to answer each request, and answer probes at once. They share a port, and
 * have addresses of their own.
 *
 * <p><b>Threads.</b> All on one event loop, whose timer is exact to a fraction of a millisecond.
 */
final class SlowPods {
  private static final String ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nqueue";

  private final long serviceMillis;
  private final EventLoopGroup thread = new MultiThreadIoEventLoopGroup(1,
      EpollIoHandler.newFactory());
  private final int port;
  private final Map<String, Integer> running = new HashMap<>();
  private volatile int mostAtOnce;
  private volatile long firstNanos;

  SlowPods(long serviceMillis) {
    this.serviceMillis = serviceMillis;
    var listening = new ServerBootstrap().group(thread).channel(EpollServerSocketChannel.class)
        .childHandler(new ChannelInitializer<SocketChannel>() {
          @Override
          protected void initChannel(SocketChannel channel) {
            channel.config().setTcpNoDelay(true);
            channel.pipeline().addLast(new Requests(channel.localAddress().getHostString()));
          }
        }).bind(0).syncUninterruptibly().channel();
    this.port = ((InetSocketAddress) listening.localAddress()).getPort();
  }

  int port() {
    return port;
  }

  /** The most requests that one of them had at once, so far. */
  int mostAtOnce() {
    return mostAtOnce;
  }

  /** When the first request came since {@link #forget}. */
  long firstNanos() {
    return firstNanos;
  }

  void forget() {
    firstNanos = 0;
  }

  private final class Requests extends SimpleChannelInboundHandler<ByteBuf> {
    private final String pod;

    Requests(String pod) {
      this.pod = pod;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
      var head = bytes.toString(StandardCharsets.US_ASCII);
      if (!head.endsWith("\r\n\r\n")) {
        throw new IllegalStateException("not one request: " + head);
      }
      if (head.contains("K-Network-Probe") || head.contains("k-network-probe")) {
        answer(context);
        return;
      }
      if (firstNanos == 0) {
        firstNanos = System.nanoTime();
      }
      mostAtOnce = Math.max(mostAtOnce, running.merge(pod, 1, Integer::sum));
      context.executor().schedule(() -> {
        running.merge(pod, -1, Integer::sum);
        answer(context);
      }, serviceMillis, TimeUnit.MILLISECONDS);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
      // The activator closes what it no longer needs.
      context.close();
    }

    private static void answer(ChannelHandlerContext context) {
      context.writeAndFlush(Unpooled.copiedBuffer(ANSWER, StandardCharsets.US_ASCII));
    }
  }
}
