package dev.activator.embedded.autoscaler;

import dev.activator.embedded.Sockets;
import dev.activator.embedded.autoscaler.policy.Sample;
import dev.activator.revision.RevisionId;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where activators report to: a WebSocket at any path, one batch a binary frame.
 *
 * <p>
 * <b>Threads.</b> Samples are handed on from the threads of connections.
 *
 * <p>
 * <b>Errors.</b> {@link #start} throws when the address is in use, and says which. A frame that
 * makes no sense is logged; its connection stays.
 *
 * <p>
 * <b>Source.</b> {@code pkg/autoscaler/statserver/server.go} in Knative Serving.
 */
@SuppressWarnings("FutureReturnValueIgnored") // Whoever does not hear it is closed all the same.
public final class AutoscalerServer {
  private static final Logger log = LoggerFactory.getLogger(AutoscalerServer.class);
  private static final int RESTARTING = 1012;
  private static final int MAX_FRAME_BYTES = 16 << 20;
  private static final int MAX_BODY_BYTES = 64 << 10;
  private static final WebSocketServerProtocolConfig ANY_PATH = WebSocketServerProtocolConfig
      .newBuilder().websocketPath("/").checkStartsWith(true)
      .maxFramePayloadLength(MAX_FRAME_BYTES).build();
  // Activators close when they are told; one that does not is not waited for any longer.
  private static final Duration GOODBYE = Duration.ofSeconds(1);

  private final Sockets sockets;
  private final InetSocketAddress address;
  private final StatFrames frames;
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE,
      true);
  private @Nullable Channel listener;

  /**
   * @param sockets where it listens
   * @param address what it listens on; port 0 for any that is free
   * @param samples what each report is handed to, usually {@link Autoscaler#received}
   */
  public AutoscalerServer(Sockets sockets, InetSocketAddress address,
      BiConsumer<RevisionId, Sample> samples) {
    this.sockets = sockets;
    this.address = address;
    this.frames = new StatFrames(samples);
  }

  /** Begins to listen; on return the port takes connections. */
  public void start() {
    var bootstrap = sockets.server().childHandler(new ChannelInitializer<Channel>() {
      @Override
      protected void initChannel(Channel connection) {
        connections.add(connection);
        addHandlers(connection);
      }
    });
    listener = Sockets.bind(bootstrap, address, "the autoscaler");
    log.info("The autoscaler listens on {}:{}", address.getHostString(), port());
  }

  /** The port it listens on. */
  public int port() {
    return Sockets.port(Objects.requireNonNull(listener, "not started"));
  }

  /** Takes no new connection, and tells every activator to connect again later. */
  public void stop() {
    if (listener == null) {
      return;
    }
    listener.close().awaitUninterruptibly();
    connections.writeAndFlush(new CloseWebSocketFrame(RESTARTING, "Restarting"));
    connections.newCloseFuture().awaitUninterruptibly(GOODBYE.toMillis(), TimeUnit.MILLISECONDS);
    connections.close().awaitUninterruptibly();
  }

  private void addHandlers(Channel connection) {
    connection.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(MAX_BODY_BYTES),
        new KubeletProbes(), new WebSocketServerProtocolHandler(ANY_PATH),
        new WebSocketFrameAggregator(MAX_FRAME_BYTES), new StatFrameHandler(frames));
  }
}
