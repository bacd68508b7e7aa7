package dev.activator.bench.activations;

import dev.activator.bench.PodSource.Pod;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.util.AttributeKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Pods of one process, each of which listens on an address of its own. They answer probes at once, and requests
 * after the time that the path says, in microseconds.
 *
 * <p><b>Threads.</b> Any may call; all run on one event loop.
 */
final class AnsweringPods {
  private static final byte[] ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nqueue"
      .getBytes(StandardCharsets.US_ASCII);
  private static final AttributeKey<Running> RUNNING = AttributeKey.valueOf("running");

  private final EventLoopGroup thread = new MultiThreadIoEventLoopGroup(1,
      EpollIoHandler.newFactory());
  private final Map<Pod, Running> running = new HashMap<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final ServerBootstrap servers = new ServerBootstrap().group(thread)
      .channel(EpollServerSocketChannel.class).option(ChannelOption.SO_REUSEADDR, true)
      .childOption(ChannelOption.TCP_NODELAY, true)
      .childHandler(new ChannelInitializer<>() {
        @Override
        protected void initChannel(Channel channel) {
          connections.incrementAndGet();
          var pod = channel.parent().attr(RUNNING).get();
          pod.channels.add(channel);
          channel.pipeline().addLast(new Requests(pod));
        }
      });

  /** A pod that listens, and its connections. */
  private static final class Running {
    private final List<Channel> channels = new ArrayList<>(2);
  }

  /** @param listens called on the event loop, as soon as it listens */
  void startWithin(long nanos, Pod pod, Runnable listens) {
    thread.next().schedule(() -> start(pod, listens), nanos, TimeUnit.NANOSECONDS);
  }

  private void start(Pod pod, Runnable listens) {
    var started = new Running();
    running.put(pod, started);
    servers.clone().attr(RUNNING, started).bind(pod.ip(), pod.port())
        .addListener((ChannelFutureListener) bound -> {
          if (bound.isSuccess()) {
            listens.run();
            started.channels.add(bound.channel());
          } else {
            System.err.println(pod + " cannot listen: " + bound.cause());
          }
        });
  }

  void stop(Pod pod) {
    thread.next().execute(() -> {
      var stopped = running.remove(pod);
      if (stopped != null) {
        List.copyOf(stopped.channels).forEach(Channel::close);
      }
    });
  }

  /** How many connections all pods have accepted. */
  int connections() {
    return connections.get();
  }

  private static final class Requests extends ChannelInboundHandlerAdapter {
    private final Running pod;

    Requests(Running pod) {
      this.pod = pod;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      var bytes = (ByteBuf) message;
      // "GET /123 HTTP/1.1"; of probes "GET /healthz HTTP/1.1".
      long micros = 0;
      for (int i = 5; i < bytes.readableBytes(); i++) {
        int digit = bytes.getByte(i) - '0';
        if (digit < 0 || digit > 9) {
          break;
        }
        micros = 10 * micros + digit;
      }
      bytes.release();
      if (micros == 0) {
        answer(context);
      } else {
        context.executor().schedule(() -> answer(context), micros, TimeUnit.MICROSECONDS);
      }
    }

    private static void answer(ChannelHandlerContext context) {
      context.writeAndFlush(Unpooled.wrappedBuffer(ANSWER), context.voidPromise());
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      pod.channels.remove(context.channel());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
      // The activator closes what it does not need.
      context.close();
    }
  }
}
