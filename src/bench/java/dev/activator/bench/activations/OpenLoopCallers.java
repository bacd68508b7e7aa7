package dev.activator.bench.activations;

import io.netty.bootstrap.Bootstrap;
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
import io.netty.channel.epoll.EpollSocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Sends each request when it is due, over a connection that no other request uses, and keeps the connection
 * for later ones, as an ingress does.
 *
 * <p><b>Threads.</b> Any may call; all runs on one event loop.
 */
final class OpenLoopCallers {
  private static final byte[] BODY = "queue".getBytes(StandardCharsets.US_ASCII);

  private final EventLoopGroup thread = new MultiThreadIoEventLoopGroup(1,
      EpollIoHandler.newFactory());
  private final ArrayDeque<Caller> idle = new ArrayDeque<>();
  private final Bootstrap connections;

  /** Of one request; called on the event loop. */
  interface Answer {
    /** The request is written. */
    void sent(long nanos);

    void firstByte(long nanos);

    void ended(boolean succeeded);
  }

  OpenLoopCallers(int port) {
    connections = new Bootstrap().group(thread).channel(EpollSocketChannel.class)
        .option(ChannelOption.TCP_NODELAY, true).handler(new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            channel.pipeline().addLast(new Caller(channel));
          }
        }).remoteAddress("127.0.0.1", port);
  }

  /** @param path of a request that is sent at once */
  void send(String namespace, String revision, String path, Answer answer) {
    var bytes = ("GET " + path + " HTTP/1.1\r\nHost: " + revision + "." + namespace
        + ".example\r\nUser-Agent: bench\r\nX-Request-Id: 4fca5be1-74a2-4b8f-9c0e-000000000001\r\n"
        + "Knative-Serving-Namespace: " + namespace + "\r\nKnative-Serving-Revision: " + revision
        + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
    thread.execute(() -> {
      var free = idle.pollLast();
      if (free != null) {
        free.send(bytes, answer);
        return;
      }
      connections.clone().connect().addListener((ChannelFutureListener) connected -> {
        if (connected.isSuccess()) {
          connected.channel().pipeline().get(Caller.class).send(bytes, answer);
        } else {
          System.err.println(connected.cause());
          answer.ended(false);
        }
      });
    });
  }

  private final class Caller extends ChannelInboundHandlerAdapter {
    private final StringBuilder received = new StringBuilder();
    private final Channel channel;
    private @Nullable Answer answer;

    Caller(Channel channel) {
      this.channel = channel;
    }

    void send(byte[] bytes, Answer next) {
      answer = next;
      channel.writeAndFlush(Unpooled.wrappedBuffer(bytes), channel.voidPromise());
      next.sent(System.nanoTime());
    }

    @Override
    public void channelRead(ChannelHandlerContext from, Object message) {
      var bytes = (ByteBuf) message;
      var now = answer;
      if (now != null) {
        if (received.isEmpty()) {
          now.firstByte(System.nanoTime());
        }
        received.append(bytes.toString(StandardCharsets.ISO_8859_1));
        boolean succeeds = received.indexOf("HTTP/1.1 200 ") == 0;
        if (!succeeds || isWhole()) {
          end(now, succeeds);
        }
      }
      bytes.release();
    }

    private boolean isWhole() {
      int body = received.indexOf("\r\n\r\n");
      return body > 0 && received.length() == body + 4 + BODY.length;
    }

    private void end(Answer ended, boolean succeeded) {
      answer = null;
      if (succeeded) {
        received.setLength(0);
        idle.addLast(this);
      } else {
        System.err.println("not answered with 200: " + received.toString().lines().findFirst());
        channel.close();
      }
      ended.ended(succeeded);
    }

    @Override
    public void channelInactive(ChannelHandlerContext from) {
      idle.remove(this);
      var now = answer;
      if (now != null) {
        end(now, false);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext from, Throwable failure) {
      System.err.println(failure);
      channel.close();
    }
  }
}
