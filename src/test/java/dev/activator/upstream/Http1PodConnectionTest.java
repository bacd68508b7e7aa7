package dev.activator.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.LoopGroup;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.tls.DialTarget;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.LoopConnectionPools.Http1Pool;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The ends of responses without a length or chunks, and of tunnels. */
class Http1PodConnectionTest {
  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final LoopGroup loops = new LoopGroup(group);
  private final Http1Pool pool = (Http1Pool) Quiescence
      .watch(new ConnectionPoolsByLoop(loops, IdleLimits.DEFAULT,
          new Random(1), new PodTls(TestRevisions.unused())))
      .of(loops.all().getFirst())
      .to(DialTarget.plain(new Destination("127.0.0.1", 1)), PortProtocol.HTTP1);
  private final PodChannel channel = new PodChannel();

  @AfterEach
  void stop() {
    channel.finishAndReleaseAll();
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
  }

  static Stream<Arguments> endsOfConnections() {
    return Stream.of(Arguments.of(null, null),
        Arguments.of(new ClosedChannelException(), null),
        Arguments.of(new SocketException("Connection reset"), UpstreamFailure.RESET),
        Arguments.of(new IOException("recvAddress(..) failed: Connection reset by peer"),
            UpstreamFailure.RESET),
        Arguments.of(new IOException("writevAddresses(..) failed: Broken pipe"),
            UpstreamFailure.RESET),
        Arguments.of(new IOException("recvAddress(..) failed: Connection timed out"),
            UpstreamFailure.UNRESPONSIVE),
        Arguments.of(new IOException("No route to host"), UpstreamFailure.BROKEN),
        Arguments.of(new OutOfMemoryError("on purpose"), UpstreamFailure.NO_MEMORY));
  }

  @ParameterizedTest
  @MethodSource("endsOfConnections")
  void completesABodyWithoutLength_onlyWhenThePodClosesCleanly(@Nullable Throwable cause,
      @Nullable UpstreamFailure failure) {
    Http1PodConnection.addCodecs(channel.pipeline());
    var listener = new RecordingListener(connection -> {
      connection.write(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"));
      connection.write(LastHttpContent.EMPTY_LAST_CONTENT);
      connection.flush();
    }, () -> {
    });
    Http1PodConnection.open(channel, pool, listener);
    channel.writeInbound(
        Unpooled.copiedBuffer("HTTP/1.1 200 OK\r\n\r\npartial", StandardCharsets.US_ASCII));
    assertThat(listener.body).hasToString("partial");

    if (cause != null) {
      channel.pipeline().fireExceptionCaught(cause);
    }
    channel.close();
    channel.runPendingTasks();

    assertThat(listener.failure).isEqualTo(failure);
    assertThat(listener.complete).isEqualTo(failure == null);
  }

  @Test
  void closesATunnel_whenThePodTakesNoMoreAndTheCallerHasLeft() {
    Http1PodConnection.addCodecs(channel.pipeline());
    List<UpstreamConnection> connections = new ArrayList<>();
    Http1PodConnection.open(channel, pool, new RecordingListener(connection -> {
      connections.add(connection);
      connection.write(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"));
      connection.write(LastHttpContent.EMPTY_LAST_CONTENT);
      connection.flush();
    }, () -> {
    }));
    channel.writeInbound(
        Unpooled.copiedBuffer("HTTP/1.1 101 Switching Protocols\r\nUpgrade: any\r\n"
            + "Connection: Upgrade\r\n\r\n", StandardCharsets.US_ASCII));
    channel.takes = false;
    connections.getFirst().write(new DefaultHttpContent(
        Unpooled.copiedBuffer("unread", StandardCharsets.US_ASCII)));

    connections.getFirst().close();

    channel.advanceTimeBy(29, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
    assertThat(channel.isOpen()).isTrue();
    channel.advanceTimeBy(1, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void passesOnAFewPartsInATurnAndReadsNoMoreUntilAllArePassedOn() {
    Http1PodConnection.addCodecs(channel.pipeline());
    var listener = new RecordingListener(connection -> {
      connection.write(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"));
      connection.write(LastHttpContent.EMPTY_LAST_CONTENT);
      connection.flush();
    }, () -> {
    });
    Http1PodConnection.open(channel, pool, listener);

    channel.pipeline().fireChannelRead(Unpooled.copiedBuffer("HTTP/1.1 200 OK\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n" + "1\r\nx\r\n".repeat(200),
        StandardCharsets.US_ASCII));
    channel.pipeline().fireChannelReadComplete();

    // The head is one of the 64 parts of this turn.
    assertThat(listener.body).hasToString("x".repeat(63));
    assertThat(channel.config().isAutoRead()).isFalse();
    channel.runScheduledPendingTasks();
    assertThat(listener.body).hasToString("x".repeat(200));
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @Test
  void passesOnWhatWaits_whenThePodCloses() {
    Http1PodConnection.addCodecs(channel.pipeline());
    var listener = new RecordingListener(connection -> {
      connection.write(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"));
      connection.write(LastHttpContent.EMPTY_LAST_CONTENT);
      connection.flush();
    }, () -> {
    });
    Http1PodConnection.open(channel, pool, listener);

    channel.pipeline()
        .fireChannelRead(Unpooled.copiedBuffer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"
            + "\r\n\r\n" + "1\r\nx\r\n".repeat(200) + "0\r\n\r\n", StandardCharsets.US_ASCII));
    channel.close();
    channel.runPendingTasks();

    assertThat(listener.body).hasToString("x".repeat(200));
    assertThat(listener.complete).isTrue();
  }

  /** The connection to a pod that can stop to read. */
  private static final class PodChannel extends EmbeddedChannel {
    private boolean takes = true;

    private PodChannel() {
      super(new WaitingWrites());
      freezeTime();
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
      if (takes) {
        super.doWrite(in);
      }
    }
  }

  /** Writes that fail because the connection is closed. */
  private static final class WaitingWrites extends ChannelOutboundHandlerAdapter {
    private boolean closed;

    @Override
    public void close(ChannelHandlerContext context, ChannelPromise promise) {
      if (!closed) {
        closed = true;
        context.fireExceptionCaught(new ClosedChannelException());
        context.close(promise);
      }
    }
  }
}
