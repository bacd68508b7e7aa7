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
 * WebSocket. They count events, and every tenth also looks how old each event is.
 *
 * <p>
 * Reads commands from its input: {@code open COUNT REVISION}, {@code report}, {@code close}.
 */
public final class WatchClients {
  private static final byte[] STAMP = "\"stamp\":\"".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] VERSION = "\"resourceVersion\":\""
      .getBytes(StandardCharsets.US_ASCII);
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

  private WatchClients(int port) {
    this.port = port;
  }

  /** Runs until its input ends. */
  public static void main(String[] args) {
    var clients = new WatchClients(Integer.parseInt(args[0]));
    new Scanner(System.in, StandardCharsets.US_ASCII).useDelimiter("\n")
        .forEachRemaining(command -> clients.perform(command.strip().split(" ")));
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
      System.out.printf("%d %d %d %d %d%n", events.getAndSet(0), at(sorted, 0.5), at(sorted, 0.99),
          at(sorted, 1), ended.getAndSet(0));
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
    private String revision;

    Client(int number, String revision) {
      this.number = number;
      this.revision = revision;
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
          + "&resourceVersion=" + revision;
    }

    private void began() {
      open.incrementAndGet();
    }

    private void ended() {
      ended.incrementAndGet();
      connect();
    }

    private void take(ByteBuf bytes, int count) {
      events.addAndGet(count);
      if (number % SAMPLED_ONE_IN < 2) {
        measure(bytes);
      }
      remember(bytes);
    }

    private void measure(ByteBuf bytes) {
      long now = System.nanoTime();
      int at = find(bytes, STAMP, bytes.readerIndex());
      while (at >= 0 && measured < MOST_DELAYS) {
        delays[measured++] = now - number(bytes, at);
        at = find(bytes, STAMP, at);
      }
    }

    private void remember(ByteBuf bytes) {
      int from = Math.max(bytes.readerIndex(), bytes.writerIndex() - 2_000);
      for (int at = find(bytes, VERSION, from); at >= 0; at = find(bytes, VERSION, at)) {
        revision = Long.toString(number(bytes, at));
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
          whole(content.content());
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
        var all = Unpooled.wrappedBuffer(unfinished, bytes.retain());
        int end = all.forEachByteDesc(ByteProcessor.FIND_LF);
        if (end >= 0) {
          var lines = all.readSlice(end + 1 - all.readerIndex());
          take(lines, count(lines));
        }
        unfinished = Unpooled.copiedBuffer(all);
        all.release();
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

  /** Where the text ends; -1 if it is not there. */
  private static int find(ByteBuf bytes, byte[] text, int from) {
    int end = bytes.writerIndex() - text.length;
    int at = from - 1;
    while (at + 1 < end) {
      at = bytes.indexOf(at + 1, end, (byte) '"');
      if (at < 0) {
        return -1;
      }
      if (matches(bytes, text, at)) {
        return at + text.length;
      }
    }
    return -1;
  }

  private static boolean matches(ByteBuf bytes, byte[] text, int at) {
    for (int i = 1; i < text.length; i++) {
      if (bytes.getByte(at + i) != text[i]) {
        return false;
      }
    }
    return true;
  }

  private static long number(ByteBuf bytes, int at) {
    long number = 0;
    for (int i = at; i < bytes.writerIndex() && bytes.getByte(i) != '"'; i++) {
      number = number * 10 + bytes.getByte(i) - '0';
    }
    return number;
  }
}
