package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Responses that wait for their streams' windows, all of them closed. */
class UnreadStreamsTest {
  private static final byte[] WINDOW_OF_ZERO = {0, 4, 0, 0, 0, 0};
  private static final int FRAME_HEADER_BYTES = 9;
  private static final int END_OF_STREAM_AND_HEAD = 5;

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final Http2CallerSession session = open();
  private final UnreadStreams unread = session.unread();

  private Http2CallerSession open() {
    var held = Quiescence.watch(new HeldRequestBytes(new HeldMemoryLimit(1 << 20))).share();
    var dispatcher = Dispatchers.of(loop, Revision.of(new RevisionId("default", "hello"), 0),
        (_, _) -> {
          throw new IllegalStateException("no request comes here");
        }, new FakePod(), held);
    var opened = Http2CallerSession.of(channel, dispatcher, Duration.ofSeconds(60),
        new AbusiveConnectionCounter());
    channel.pipeline().addLast(opened);
    return opened;
  }

  /** Three requests that are refused; the answer to the second, in JSON, is longer. */
  @BeforeEach
  void answersThreeRequests() {
    receives("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    receives(RawHttp2.bytes(RawHttp2.SETTINGS, 0, 0, WINDOW_OF_ZERO));
    asks(1, "text/plain");
    asks(3, "application/json");
    asks(5, "text/plain");
    channel.runPendingTasks();
    channel.releaseOutbound();
  }

  @AfterEach
  void closes() {
    channel.finishAndReleaseAll();
    assertThat(unread.queuedBytes()).isZero();
  }

  private void asks(int stream, String accept) {
    receives(RawHttp2.bytes(RawHttp2.HEADERS, END_OF_STREAM_AND_HEAD, stream,
        RawHttp2.encode(":method", "GET", ":scheme", "http", ":path", "/", ":authority",
            "hello.example", "expect", "something", "accept", accept)));
  }

  private void receives(byte[] bytes) {
    channel.writeInbound(Unpooled.wrappedBuffer(bytes));
  }

  /** The streams that were reset since the last call, in order. */
  private List<Integer> reset() {
    channel.runPendingTasks();
    var all = Unpooled.buffer();
    for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
      all.writeBytes(next);
      next.release();
    }
    var streams = new ArrayList<Integer>();
    while (all.isReadable()) {
      int length = all.readUnsignedMedium();
      int type = all.readByte();
      all.readByte();
      int stream = all.readInt();
      all.skipBytes(length);
      if (type == RawHttp2.RST_STREAM) {
        streams.add(stream);
      }
    }
    return streams;
  }

  @Test
  void endsTheStreamThatHoldsMostAndNoMoreThanNeeded() {
    long before = unread.queuedBytes();

    assertThat(unread.endUnread(1)).isTrue();

    assertThat(reset()).containsExactly(3);
    assertThat(unread.queuedBytes()).isBetween(1L, before / 2);
  }

  @Test
  void endsAStreamOnce() {
    unread.endUnread(Long.MAX_VALUE);
    assertThat(reset()).containsExactly(3, 1, 5);
    assertThat(unread.queuedBytes()).isZero();

    assertThat(unread.endUnread(Long.MAX_VALUE)).isFalse();

    assertThat(reset()).isEmpty();
    assertThat(channel.isActive()).isTrue();
  }

  @Test
  void givesACallerItsWholeTime_whateverTheClockShows() {
    loop.advance(Duration.ofMillis(400));
    var all = new ArrayList<Http2Downstream>();
    session.eachDownstream(all::add);

    assertThat(all).hasSize(3).allMatch(one -> one.checkDeadlines() < Long.MAX_VALUE);
    assertThat(reset()).isEmpty();

    // Half a second later the clock has overflowed.
    loop.advance(Duration.ofSeconds(59));
    assertThat(all).allMatch(one -> one.checkDeadlines() < Long.MAX_VALUE);
    loop.advance(Duration.ofSeconds(1));
    assertThat(all).allMatch(one -> one.checkDeadlines() == Long.MAX_VALUE);
    assertThat(reset()).containsExactlyInAnyOrder(1, 3, 5);
  }
}
