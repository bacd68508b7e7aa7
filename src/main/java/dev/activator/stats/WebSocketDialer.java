package dev.activator.stats;

import dev.activator.loop.NettyLoop;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketClientHandshakeException;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.websocket.WebsocketInbound;
import reactor.netty.http.websocket.WebsocketOutbound;
import reactor.netty.resources.ConnectionProvider;

/**
 * Opens WebSockets without subprotocols or extensions. Their channels run on {@code loop}.
 *
 * <p><b>Source.</b> RFC 6455.
 */
final class WebSocketDialer implements StatSocket.Dialer {
  private final Supplier<URI> url;
  private final NettyLoop loop;
  /**
   * The prefix of native errors, as in
   * {@code finishConnect(..) failed with error(-111): Connection refused}.
   */
  private static final Pattern NATIVE_CALL = Pattern
      .compile("^\\w+\\(\\.\\.\\) failed(?: with error\\(-?\\d+\\))?: ");

  private final HttpClient client;

  WebSocketDialer(Supplier<URI> url, NettyLoop loop) {
    this.url = url;
    this.loop = loop;
    this.client = HttpClient.create(ConnectionProvider.newConnection()).runOn(loop.eventLoop())
        .disableRetry(true);
  }

  @Override
  public StatSocket dial(StatSocket.Events events) {
    var socket = new Socket(events);
    socket.subscription = client.websocket().uri(url.get()).handle(socket::talk)
        .subscribe(nothing -> {
        }, socket::failed, socket::ended);
    return socket;
  }

  @Override
  public String toString() {
    return url.get().toString();
  }

  /** The reason of a failure, without the library's own terms. */
  static String reason(String host, Throwable failure) {
    return switch (failure) {
      case WebSocketClientHandshakeException refused when refused.response() != null ->
        "the answer is " + refused.response().status();
      case UnknownHostException _ -> "the name " + host + " has no address";
      default -> NATIVE_CALL.matcher(String.valueOf(failure.getMessage())).replaceFirst("").strip();
    };
  }

  private final class Socket implements StatSocket {
    private final Events events;
    private volatile @Nullable Disposable subscription;
    private @Nullable Channel channel;
    private boolean closed;
    private String closeReason = "the other side closed it";

    Socket(Events events) {
      this.events = events;
    }

    private Publisher<Void> talk(WebsocketInbound in, WebsocketOutbound out) {
      in.withConnection(connection -> {
        var opened = connection.channel();
        loop.execute(() -> opened(opened));
      });
      in.receiveCloseStatus().subscribe(this::closing);
      return in.receiveFrames().doOnNext(frame -> {
        if (frame instanceof PongWebSocketFrame) {
          loop.execute(events::ponged);
        }
      }).then();
    }

    private void opened(Channel opened) {
      channel = opened;
      if (closed) {
        var _ = opened.close();
      } else {
        events.opened();
      }
    }

    private void closing(WebSocketCloseStatus status) {
      loop.execute(() -> closeReason = "the other side closed it: " + status.code() + " "
          + status.reasonText());
    }

    private void failed(Throwable failure) {
      loop.execute(() -> events.closed(reason(url.get().getHost(), failure)));
    }

    private void ended() {
      loop.execute(() -> events.closed(closeReason));
    }

    @Override
    public boolean isWritable() {
      return channel != null && channel.isWritable();
    }

    @Override
    public void send(byte[] frame) {
      if (channel != null) {
        // A failed write closes the channel.
        var _ = channel
            .writeAndFlush(new BinaryWebSocketFrame(Unpooled.wrappedBuffer(frame)));
      }
    }

    @Override
    public void ping() {
      if (channel != null) {
        var _ = channel.writeAndFlush(new PingWebSocketFrame());
      }
    }

    @Override
    public void close() {
      closed = true;
      if (channel != null) {
        var _ = channel.close();
      }
      if (subscription != null) {
        subscription.dispose();
      }
    }
  }
}
