package dev.activator.bench;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Connections that send a number of requests each, one after the other. */
final class Callers {
  private static final EventLoopGroup THREAD = new MultiThreadIoEventLoopGroup(1,
      EpollIoHandler.newFactory());

  private final String request;
  private final List<Channel> channels = new ArrayList<>();
  private final CountDownLatch answers;
  private volatile long lastNanos;
  private volatile int errors;

  /** Waits for this many answers in all. */
  Callers(String request, int answers) {
    this.request = request;
    this.answers = new CountDownLatch(answers);
  }

  /** Opens a connection for some of the requests, and sends the first one. */
  void open(String host, int port, int requests) {
    var channel = new Bootstrap().group(THREAD).channel(EpollSocketChannel.class)
        .handler(new ChannelInitializer<SocketChannel>() {
          @Override
          protected void initChannel(SocketChannel opened) {
            opened.config().setTcpNoDelay(true);
            opened.pipeline().addLast(new Answers(requests));
          }
        }).connect(host, port).syncUninterruptibly().channel();
    channels.add(channel);
  }

  /** When the last answer was there. */
  long awaitLast() throws IOException {
    try {
      if (!answers.await(60, TimeUnit.SECONDS)) {
        throw new IOException(answers.getCount() + " answers are missing");
      }
    } catch (InterruptedException hurried) {
      throw new IOException(hurried);
    }
    channels.forEach(Channel::close);
    return lastNanos;
  }

  /** How many answers were not 200. */
  int errors() {
    return errors;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes.
  private final class Answers extends SimpleChannelInboundHandler<ByteBuf> {
    private int left;

    Answers(int requests) {
      this.left = requests;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      send(context);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
      System.err.println(failure);
      errors++;
      context.close();
    }

    private void send(ChannelHandlerContext context) {
      left--;
      context.writeAndFlush(Unpooled.copiedBuffer(request, StandardCharsets.US_ASCII));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
      if (!bytes.toString(StandardCharsets.US_ASCII).startsWith("HTTP/1.1 200 ")) {
        errors++;
      }
      lastNanos = System.nanoTime();
      answers.countDown();
      if (left > 0) {
        send(context);
      }
    }
  }
}
