package dev.activator.proxy.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawHttp2;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FrameScannerTest {
  private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
      .getBytes(StandardCharsets.US_ASCII);

  private final FrameScanner frames = new FrameScanner();

  private void follow(byte[] bytes) {
    frames.scan(Unpooled.wrappedBuffer(bytes), 1_000);
  }

  private static byte[] frame(int type, int flags, int bytes) {
    return RawHttp2.bytes(type, flags, 1, new byte[bytes]);
  }

  @Test
  void isWithinAHeadUntilItsLastFrameHasEnded() {
    follow(PREFACE);
    follow(frame(RawHttp2.SETTINGS, RawHttp2.END_HEADERS, 12));
    assertThat(frames.withinHead()).isFalse();

    follow(frame(RawHttp2.HEADERS, RawHttp2.END_STREAM, 70_000));
    assertThat(frames.withinHead()).isTrue();
    follow(frame(RawHttp2.CONTINUATION, 0, 0));
    assertThat(frames.withinHead()).isTrue();
    follow(frame(RawHttp2.CONTINUATION, RawHttp2.END_HEADERS, 300));
    assertThat(frames.withinHead()).isFalse();

    follow(frame(RawHttp2.DATA, RawHttp2.END_HEADERS, 300));
    assertThat(frames.withinHead()).isFalse();
    assertThat(frames.heads()).isOne();
  }

  @Test
  void stopsBehindTheLastFrameThatWasAskedFor() {
    follow(PREFACE);
    var all = new ByteArrayOutputStream();
    for (int i = 0; i < 5; i++) {
      all.writeBytes(frame(RawHttp2.DATA, 0, 11));
    }
    var bytes = Unpooled.wrappedBuffer(all.toByteArray());

    assertThat(frames.scan(bytes, 2)).isEqualTo(40);
    assertThat(frames.frames()).isEqualTo(2);
    bytes.skipBytes(40);
    assertThat(frames.scan(bytes, 5)).isEqualTo(60);
    assertThat(frames.frames()).isEqualTo(5);
  }

  @Test
  void countsTheBytesOfAHeadThatHasNotEnded() {
    follow(PREFACE);
    follow(frame(RawHttp2.HEADERS, 0, 500));
    follow(frame(RawHttp2.CONTINUATION, 0, 100));
    assertThat(frames.headBytes()).isBetween(600, 620);

    follow(frame(RawHttp2.CONTINUATION, RawHttp2.END_HEADERS, 100));
    assertThat(frames.headBytes()).isZero();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("dev.activator.testing.Seeds#first300")
  void knowsItHoweverTheBytesAreCut(long seed) {
    var random = new Random(seed);
    var all = new ByteArrayOutputStream();
    all.writeBytes(PREFACE);
    int heads = 0;
    boolean within = false;
    for (int i = 0; i < 30; i++) {
      int type = within ? RawHttp2.CONTINUATION : random.nextInt(9);
      int flags = random.nextInt(8);
      all.writeBytes(frame(type, flags, random.nextInt(100)));
      heads += type == RawHttp2.HEADERS ? 1 : 0;
      within = (within || type == RawHttp2.HEADERS) && (flags & RawHttp2.END_HEADERS) == 0;
    }
    byte[] bytes = all.toByteArray();
    for (int at = 0; at < bytes.length;) {
      int length = Math.min(bytes.length - at, 1 + random.nextInt(40));
      assertThat(frames.scan(Unpooled.wrappedBuffer(bytes, at, length), 1_000)).isEqualTo(length);
      at += length;
    }
    assertThat(frames.withinHead()).isEqualTo(within);
    assertThat(frames.heads()).isEqualTo(heads);
  }
}
