package dev.activator.ext.admit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.admit.GatewayHeadLimiter.Http2HeadSizeTracker;
import dev.activator.testing.RawHttp2;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads among frames, however the bytes are divided. */
class Http2HeadSizeTrackerTest {
  private final Http2HeadSizeTracker frames = new Http2HeadSizeTracker();
  private final ByteArrayOutputStream sent = new ByteArrayOutputStream();

  private void frame(int type, int flags, int length) {
    sent.writeBytes(RawHttp2.bytes(type, flags, 1, new byte[length]));
  }

  private void read(int bytes) {
    var all = Unpooled.wrappedBuffer(sent.toByteArray());
    sent.reset();
    while (all.isReadable()) {
      frames.read(all.readSlice(Math.min(bytes, all.readableBytes())), 0);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 9, 10, 1_000})
  void findsHeadsThatAreNotComplete(int bytes) {
    frame(RawHttp2.SETTINGS, 0, 6);
    frame(RawHttp2.SETTINGS, RawHttp2.ACK, 0);
    frame(RawHttp2.DATA, RawHttp2.END_HEADERS, 30);
    read(bytes);
    assertThat(frames.isWithinHead()).isFalse();
    assertThat(frames.heads()).isZero();

    frame(RawHttp2.HEADERS, RawHttp2.END_STREAM, 20);
    frame(RawHttp2.CONTINUATION, 0, 300);
    read(bytes);
    assertThat(frames.isWithinHead()).isTrue();
    assertThat(frames.headBytes()).isEqualTo(320);

    frame(RawHttp2.CONTINUATION, RawHttp2.END_HEADERS, 0);
    read(bytes);
    assertThat(frames.isWithinHead()).isFalse();

    frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 20);
    frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 20);
    read(bytes);
    assertThat(frames.isWithinHead()).isFalse();
    assertThat(frames.heads()).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {5, 9, 28})
  void aHeadLastsUntilTheEndOfItsFrame(int bytes) {
    byte[] head = RawHttp2.bytes(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 1, new byte[20]);

    frames.read(Unpooled.wrappedBuffer(head, 0, bytes), 0);

    assertThat(frames.isWithinHead()).isTrue();
    assertThat(frames.headBytes()).isEqualTo(bytes - 9 > 0 ? bytes - 9 : 0);
  }
}
