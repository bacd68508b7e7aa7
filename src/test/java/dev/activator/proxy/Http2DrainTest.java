package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.FakeThrottle;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision.Rejection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The end of an HTTP/2 connection that drains while a request is queued. */
class Http2DrainTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello");
  private static final String LAST_OF_ALL = "GOAWAY " + Integer.MAX_VALUE;
  private static final int END_OF_STREAM_AND_HEAD = 5;

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final CallerChannel channel = new CallerChannel();
  private final FakeThrottle throttle = new FakeThrottle();
  private final Http2CallerSession session = Http2CallerSession.of(channel,
      Dispatchers.of(loop, Revision.of(HELLO, 0), throttle::admit, new FakePod(),
          Quiescence.watch(new HeldRequestBytes(new HeldMemoryLimit(1 << 20))).share()),
      Duration.ofSeconds(60), new AbusiveConnectionCounter());

  @BeforeEach
  void drainsWhileARequestIsQueued() {
    channel.pipeline().addLast(session);
    receives("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    receives(RawHttp2.bytes(RawHttp2.SETTINGS, 0, 0, new byte[0]));
    asks(1);
    sent();
    session.drain();
    assertThat(sent()).containsExactly(LAST_OF_ALL, "PING");
  }

  @AfterEach
  void closes() {
    channel.finishAndReleaseAll();
  }

  private void receives(byte[] bytes) {
    channel.writeInbound(Unpooled.wrappedBuffer(bytes));
  }

  private void asks(int stream) {
    receives(RawHttp2.bytes(RawHttp2.HEADERS, END_OF_STREAM_AND_HEAD, stream,
        RawHttp2.encode(":method", "GET", ":scheme", "http", ":path", "/", ":authority", "x")));
  }

  /** The GOAWAYs and PINGs since the last call. */
  private List<String> sent() {
    loop.run();
    channel.runPendingTasks();
    var all = Unpooled.buffer();
    for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
      all.writeBytes(next);
      next.release();
    }
    var frames = new ArrayList<String>();
    while (all.isReadable()) {
      int length = all.readUnsignedMedium();
      int type = all.readByte();
      var payload = all.skipBytes(5).readSlice(length);
      if (type == RawHttp2.GOAWAY) {
        frames.add("GOAWAY " + payload.readInt());
      } else if (type == RawHttp2.PING) {
        frames.add("PING");
      }
    }
    return frames;
  }

  @Test
  void servesWhatTheCallerSentBeforeItKnew() {
    asks(3);
    receives(RawHttp2.bytes(RawHttp2.PING, RawHttp2.ACK, 0, new byte[8]));

    assertThat(sent()).containsExactly("GOAWAY 3");
    assertThat(throttle.queued()).isEqualTo(2);
    assertThat(channel.isOpen()).isTrue();

    // and ends after the last response, which the caller may still be reading
    throttle.reject(new Rejection.ShuttingDown(HELLO));
    sent();
    assertThat(channel.isOutputShutdown()).isTrue();
    receives(RawHttp2.bytes(RawHttp2.WINDOW_UPDATE, 0, 0, new byte[]{0, 0, 0, 9}));
    asks(5);
    loop.advance(Duration.ofMillis(4_999));
    assertThat(channel.isOpen()).isTrue();
    loop.advance(Duration.ofMillis(1));
    assertThat(channel.isOpen()).isFalse();
    assertThat(throttle.queued()).isZero();
  }

  @Test
  void waitsASecondForACallerThatDoesNotAnswerThePing() {
    loop.advance(Duration.ofMillis(999));
    assertThat(sent()).isEmpty();
    loop.advance(Duration.ofMillis(1));
    assertThat(sent()).containsExactly("GOAWAY 1");

    asks(3);
    assertThat(throttle.queued()).isOne();
  }
}
