package dev.activator.proxy.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.activator.testing.Seeds;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WebSocketFrameTrackerTest {
  private static final int[] LENGTHS = {0, 1, 125, 126, 127, 300, 65_535, 65_536};

  @Test
  void knowsWhereFramesBeginHoweverTheyAreCut() {
    Seeds
        .each(seed -> new WebSocketFrameTrackerTest().knowsWhereFramesBeginHoweverTheyAreCut(seed));
  }

  private void knowsWhereFramesBeginHoweverTheyAreCut(long seed) {
    // given frames of all kinds of lengths, one after another
    var random = new Random(seed);
    ByteBuf all = Unpooled.buffer();
    var boundaries = new ArrayList<Integer>();
    for (int i = 0; i < 5; i++) {
      frame(all, LENGTHS[random.nextInt(LENGTHS.length)], random.nextBoolean());
      boundaries.add(all.writerIndex());
    }
    var frames = new WebSocketFrameTracker();
    int followed = 0;
    while (followed < all.writerIndex()) {
      // when some more bytes come
      int more = 1
          + random.nextInt(Math.min(all.writerIndex() - followed, 1 << random.nextInt(17)));
      frames.follow(all.slice(followed, more));
      followed += more;

      // then a frame may begin just where one does
      assertThat(frames.atBoundary()).isEqualTo(boundaries.contains(followed));
      int at = followed;
      int next = boundaries.stream().filter(b -> b >= at).findFirst().orElseThrow();
      var rest = new WebSocketFrameTracker();
      rest.follow(all.slice(0, followed));
      assertThat(rest.followToBoundary(all.slice(followed, all.writerIndex() - followed)))
          .isEqualTo(next - followed);
    }
  }

  /** RFC 6455, section 5.2, allows 63 bits. */
  @ParameterizedTest
  @ValueSource(longs = {Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 1, -1})
  void isWithinTheFrame_whenItsLengthIsTheLargestOrMalformed(long length) {
    for (int mask : new int[]{0, 0x80}) {
      ByteBuf all = Unpooled.buffer().writeByte(0x82).writeByte(mask | 127).writeLong(length)
          .writeZero(1_000);
      var frames = new WebSocketFrameTracker();

      assertTimeoutPreemptively(Duration.ofMinutes(2), () -> frames.follow(all));

      assertThat(frames.atBoundary()).isFalse();
    }
  }

  private static void frame(ByteBuf to, int length, boolean masked) {
    to.writeByte(0x82);
    int mask = masked ? 0x80 : 0;
    if (length < 126) {
      to.writeByte(mask | length);
    } else if (length < 65_536) {
      to.writeByte(mask | 126).writeShort(length);
    } else {
      to.writeByte(mask | 127).writeLong(length);
    }
    to.writeZero(length + (masked ? 4 : 0));
  }
}
