package dev.activator.embedded.runtime.sidecar;

import dev.activator.embedded.Sockets;
import dev.activator.loop.Connecting;
import dev.activator.loop.NettyLoop;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Connections from a sidecar to its process, all on one loop. Those for HTTP/1.1 are used again for
 * a moment; HTTP/2 has one for all requests.
 *
 * <p>
 * <b>Threads.</b> Those of the loop.
 *
 * <p>
 * <b>Units.</b> An idle connection is kept for a second: less than any server waits before it
 * closes its side, so that a request hardly ever meets a connection that is just closing.
 */
@SuppressWarnings("FutureReturnValueIgnored") // What fails ends the channel, and that is noticed.
final class ProcessConnections {
  private static final Duration IDLE = Duration.ofSeconds(1);
  private static final int CONNECT_TIMEOUT_MILLIS = 5_000;
  private static final int MAX_LINE_BYTES = 64 << 10;
  private static final int MAX_HEADERS_BYTES = 1 << 20;
  private static final int CHUNK_BYTES = 32 << 10;

  private final Sockets sockets;
  private final NettyLoop loop;
  private final InetSocketAddress address;
  private final Deque<ProcessHandler> idle = new ArrayDeque<>();
  private @Nullable ChannelFuture http2;

  ProcessConnections(Sockets sockets, NettyLoop loop, InetSocketAddress address) {
    this.sockets = sockets;
    this.loop = loop;
    this.address = address;
  }

  /** A connection that was used before and still stands; null when there is none. */
  @Nullable ProcessHandler reuse() {
    return idle.pollLast();
  }

  /** A new connection for HTTP/1.1. */
  void open(Consumer<ProcessHandler> opened, Consumer<Throwable> failed) {
    var handler = new ProcessHandler();
    connect(new ChannelInitializer<Channel>() {
      @Override
      protected void initChannel(Channel channel) {
        channel.config().setAutoRead(false);
        channel.pipeline().addLast(
            new HttpClientCodec(MAX_LINE_BYTES, MAX_HEADERS_BYTES, CHUNK_BYTES),
            new OneByOne(), handler);
      }
    }).addListener((ChannelFuture connected) -> {
      if (connected.isSuccess()) {
        opened.accept(handler);
      } else {
        failed.accept(connected.cause());
      }
    });
  }

  /** A new stream for HTTP/2. */
  void openStream(Consumer<ProcessHandler> opened, Consumer<Throwable> failed) {
    http2Connection().addListener((ChannelFuture connected) -> {
      if (connected.isSuccess()) {
        openStream(connected.channel(), opened, failed);
      } else {
        failed.accept(connected.cause());
      }
    });
  }

  /** The exchange on this connection is over, and another may follow. */
  void giveBack(ProcessHandler connection) {
    idle.addLast(connection);
    connection.rest(() -> idle.remove(connection));
    loop.schedule(IDLE, () -> {
      // It may have been used and given back since: then it lives a little shorter than it could.
      if (idle.remove(connection)) {
        connection.close();
      }
    });
  }

  void close() {
    idle.forEach(ProcessHandler::close);
    idle.clear();
    if (http2 != null) {
      http2.channel().close();
    }
  }

  private void openStream(Channel parent, Consumer<ProcessHandler> opened,
      Consumer<Throwable> failed) {
    var handler = new ProcessHandler();
    new Http2StreamChannelBootstrap(parent).handler(new ChannelInitializer<Channel>() {
      @Override
      protected void initChannel(Channel channel) {
        channel.config().setAutoRead(false);
        channel.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(false),
            new OneByOne(), handler);
      }
    }).open().addListener(stream -> {
      if (stream.isSuccess()) {
        opened.accept(handler);
      } else {
        failed.accept(stream.cause());
      }
    });
  }

  private ChannelFuture http2Connection() {
    var known = http2;
    if (known == null || (known.isDone() && !takesStreams(known.channel()))) {
      known = connect(new ChannelInitializer<Channel>() {
        @Override
        protected void initChannel(Channel channel) {
          var settings = Http2Settings.defaultSettings().maxHeaderListSize(MAX_HEADERS_BYTES)
              .pushEnabled(false);
          channel.pipeline().addLast(
              Http2FrameCodecBuilder.forClient().initialSettings(settings).build(),
              new Http2MultiplexHandler(new Unwanted()));
        }
      });
      http2 = known;
    }
    return known;
  }

  private static boolean takesStreams(Channel parent) {
    var codec = parent.pipeline().get(Http2FrameCodec.class);
    return parent.isActive() && codec != null && !codec.connection().goAwayReceived();
  }

  private ChannelFuture connect(ChannelInitializer<Channel> handlers) {
    var client = sockets.client(loop.eventLoop()).handler(handlers)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS);
    return Connecting.to(address, client);
  }
}
