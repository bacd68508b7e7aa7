package dev.activator.bench;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.util.ByteProcessor;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Scanner;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Many watches of one server, from a process of their own: half of them over HTTP, half over
 * WebSocket. They count events, and every fifth also looks how old each event is: to look costs
 * more than to be told, and a client that cannot keep up would measure itself.
 *
 * <p>Reads commands from its input: {@code open COUNT REVISION}, {@code report}, {@code close}.
 */
public final class WatchClients {
  private static final Mark STAMP = new Mark("\"stamp\":\"");
  private static final int SAMPLED_ONE_IN = 10;
  private static final int MOST_DELAYS = 4_000_000;

  private final int port;
  private final EventLoopGroup threads = new MultiThreadIoEventLoopGroup(1,
      EpollIoHandler.newFactory());
  private final AtomicLong events = new AtomicLong();
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();
  private final long[] delays = new long[MOST_DELAYS];
  private int measured;
  private volatile boolean closing;

  private WatchClients(int port) {
    this.port = port;
  }

  /** Runs until its input ends. */
  public static void main(String[] args) {
    var clients = new WatchClients(Integer.parseInt(args[0]));
    new Scanner(System.in, StandardCharsets.US_ASCII).useDelimiter("\n")
        .forEachRemaining(command -> clients.perform(command.strip().split(" ")));
    clients.closing = true;
    clients.threads.shutdownGracefully();
  }

  private void perform(String[] command) {
    switch (command[0]) {
      case "open" -> open(Integer.parseInt(command[1]), command[2]);
      case "report" -> report();
      default -> throw new IllegalArgumentException(command[0]);
    }
  }

  private void open(int count, String revision) {
    for (int i = 0; i < count; i++) {
      new Client(i, revision).connect();
    }
    while (open.get() < count) {
      LockSupport.parkNanos(10_000_000);
    }
    System.out.println("opened");
  }

  private void report() {
    // On the thread that measures.
    threads.next().submit(() -> {
      var sorted = Arrays.copyOf(delays, measured);
      Arrays.sort(sorted);
      System.out.printf("%d %d %d %d %d %d%n", events.getAndSet(0), at(sorted, 0.5),
          at(sorted, 0.9), at(sorted, 0.99), at(sorted, 1), ended.getAndSet(0));
      measured = 0;
    });
  }

  private static long at(long[] sorted, double share) {
    return sorted.length == 0
        ? 0
        : sorted[(int) Math.min(sorted.length - 1, sorted.length * share)];
  }

  /** One watch, which comes back from where it was when the server ends it. */
  private final class Client {
    private final int number;
    private final Tail tail;

    Client(int number, String revision) {
      this.number = number;
      this.tail = new Tail(revision);
    }

    void connect() {
      new Bootstrap().group(threads).channel(EpollSocketChannel.class)
          .handler(new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
              channel.pipeline().addLast(new HttpClientCodec(4_096, 8_192, 1 << 20));
              if (number % 2 == 0) {
                channel.pipeline().addLast(new Lines());
              } else {
                channel.pipeline().addLast(
                    new HttpObjectAggregator(8_192), new WebSocketClientProtocolHandler(
                        WebSocketClientProtocolConfig.newBuilder().maxFramePayloadLength(1 << 20)
                            .withUTF8Validator(false)
                            .webSocketUri("ws://127.0.0.1:" + port + path()).build()),
                    new Messages());
              }
            }
          }).connect("127.0.0.1", port).addListener(done -> {
            if (!done.isSuccess()) {
              System.err.println(done.cause());
            }
          });
    }

    private String path() {
      return "/api/v1/endpoints?watch=true&allowWatchBookmarks=true&timeoutSeconds=3600"
          + "&resourceVersion=" + tail.version();
    }

    private void began() {
      open.incrementAndGet();
    }

    private void ended() {
      ended.incrementAndGet();
      if (!closing) {
        connect();
      }
    }

    private boolean looks() {
      return number % SAMPLED_ONE_IN < 2;
    }

    private void take(ByteBuf bytes, int count) {
      events.addAndGet(count);
      tail.add(bytes);
    }

    private void measure(ByteBuf bytes) {
      long now = System.nanoTime();
      int at = STAMP.after(bytes, bytes.readerIndex());
      while (at >= 0 && measured < MOST_DELAYS) {
        delays[measured++] = now - Mark.number(bytes, at);
        at = STAMP.after(bytes, at);
      }
    }

    /** Lines of a response, each once it is whole. */
    private final class Lines extends SimpleChannelInboundHandler<Object> {
      private ByteBuf unfinished = Unpooled.EMPTY_BUFFER;

      @Override
      public void channelActive(ChannelHandlerContext ctx) {
        var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path());
        request.headers().set(HttpHeaderNames.HOST, "127.0.0.1:" + port);
        ctx.writeAndFlush(request);
      }

      @Override
      protected void channelRead0(ChannelHandlerContext ctx, Object message) {
        if (message instanceof HttpContent content) {
          var bytes = content.content();
          take(bytes, count(bytes));
          if (looks()) {
            whole(bytes);
          }
          if (message instanceof LastHttpContent) {
            ctx.close();
          }
        } else {
          began();
        }
      }

      @Override
      public void channelInactive(ChannelHandlerContext ctx) {
        ended();
      }

      @Override
      public void exceptionCaught(ChannelHandlerContext ctx, Throwable failure) {
        System.err.println(failure);
        ctx.close();
      }

      /** A number that is cut in two would be another number. */
      private void whole(ByteBuf bytes) {
        // One piece: a composite one would be read byte by byte.
        var all = Unpooled.copiedBuffer(unfinished, bytes);
        int end = all.forEachByteDesc(ByteProcessor.FIND_LF);
        if (end >= 0) {
          measure(all.readSlice(end + 1 - all.readerIndex()));
        }
        unfinished = Unpooled.copiedBuffer(all);
      }

      private static int count(ByteBuf bytes) {
        int count = 0;
        int at = bytes.indexOf(bytes.readerIndex(), bytes.writerIndex(), (byte) '\n');
        while (at >= 0) {
          count++;
          at = bytes.indexOf(at + 1, bytes.writerIndex(), (byte) '\n');
        }
        return count;
      }
    }

    /** Messages of a WebSocket. */
    private final class Messages extends SimpleChannelInboundHandler<TextWebSocketFrame> {
      @Override
      public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof WebSocketClientProtocolHandler.ClientHandshakeStateEvent state
            && state == WebSocketClientProtocolHandler.ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
          began();
        }
      }

      @Override
      protected void channelRead0(ChannelHandlerContext ctx, TextWebSocketFrame frame) {
        take(frame.content(), 1);
        if (looks()) {
          measure(frame.content());
        }
      }

      @Override
      public void channelInactive(ChannelHandlerContext ctx) {
        ended();
      }

      @Override
      public void exceptionCaught(ChannelHandlerContext ctx, Throwable failure) {
        System.err.println(failure);
        ctx.close();
      }
    }
  }
}
