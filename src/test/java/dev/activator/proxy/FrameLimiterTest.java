package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.exchange.HeldBytes;
import dev.activator.upstream.policy.FrameBudget;
import dev.activator.proxy.policy.MemoryBound;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.VirtualLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What one connection may have its loop do: counted in turns of the loop. */
class FrameLimiterTest {
  private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  private static final Duration HEAD_TIMEOUT = Duration.ofSeconds(60);
  private static final int DATA_BYTES = 10;

  private final VirtualLoop loop = new VirtualLoop();
  private final FrameLimiter limiter = new FrameLimiter(loop, HEAD_TIMEOUT,
      new HeldBytes(new MemoryBound(1 << 20)).share().partialHeads());
  private final ByteArrayOutputStream passed = new ByteArrayOutputStream();
  private Throwable refused;
  private int completed;
  private final EmbeddedChannel channel = new EmbeddedChannel(limiter,
      new ChannelInboundHandlerAdapter() {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
          var bytes = (ByteBuf) message;
          byte[] copy = new byte[bytes.readableBytes()];
          bytes.readBytes(copy).release();
          passed.writeBytes(copy);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
          completed++;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
          refused = cause;
        }
      });

  @BeforeEach
  void opens() {
    channel.writeInbound(Unpooled.wrappedBuffer(PREFACE.getBytes(StandardCharsets.US_ASCII),
        RawHttp2.bytes(RawHttp2.SETTINGS, 0, 0, new byte[0])));
    passed.reset();
    completed = 0;
  }

  @AfterEach
  void nothingIsLeft() {
    channel.finishAndReleaseAll();
  }

  private static byte[] frames(int count, int type, int bytes) {
    var all = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      all.writeBytes(RawHttp2.bytes(type, 0, 1, new byte[bytes]));
    }
    return all.toByteArray();
  }

  private static byte[] data(int count) {
    return frames(count, RawHttp2.DATA, DATA_BYTES - 9);
  }

  @Test
  void passesAFewFramesInEachTurnAndReadsNoMoreUntilAllArePassed() {
    int turn = FrameLimiter.FRAMES_PER_TURN * DATA_BYTES;
    channel.writeInbound(Unpooled.wrappedBuffer(data(5 * FrameLimiter.FRAMES_PER_TURN)));

    for (int turns = 1; turns < 5; turns++) {
      assertThat(passed.size()).isEqualTo(turns * turn);
      assertThat(channel.config().isAutoRead()).isFalse();
      assertThat(completed).isEqualTo(turns);
      loop.turn();
    }
    assertThat(passed.size()).isEqualTo(5 * turn);
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("dev.activator.testing.Seeds#first300")
  void passesAllBytesInOrderHoweverTheyAreCut(long seed) {
    var random = new Random(seed);
    var all = new ByteArrayOutputStream();
    for (int i = 0; i < 500; i++) {
      byte[] payload = new byte[random.nextInt(200)];
      random.nextBytes(payload);
      all.writeBytes(RawHttp2.bytes(RawHttp2.DATA, 1, 1, payload));
    }
    byte[] bytes = all.toByteArray();
    for (int at = 0; at < bytes.length;) {
      int length = Math.min(bytes.length - at, 1 + random.nextInt(20_000));
      channel.writeInbound(Unpooled.copiedBuffer(bytes, at, length));
      at += length;
      if (random.nextBoolean()) {
        loop.run();
      }
    }
    while (loop.pending() > 1) {
      loop.run();
    }
    assertThat(passed.toByteArray()).isEqualTo(bytes);
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @Test
  void refusesTheFrameThatIsTooManyAndPassesNothingAfterIt() {
    // The first frame was one already.
    for (int i = 1; i < FrameBudget.BURST; i++) {
      channel.writeInbound(Unpooled.wrappedBuffer(frames(1, RawHttp2.PING, 8)));
    }
    assertThat(refused).isNull();
    int before = passed.size();

    channel.writeInbound(Unpooled.wrappedBuffer(frames(1, RawHttp2.PING, 8)));

    assertThat(((Http2Exception) refused).error()).isEqualTo(Http2Error.ENHANCE_YOUR_CALM);
    channel.writeInbound(Unpooled.wrappedBuffer(data(1)));
    assertThat(passed.size()).isEqualTo(before);
  }

  @Test
  void refusesNoneThatComesSlowlyEnough() {
    for (int second = 0; second < 100; second++) {
      loop.advance(Duration.ofSeconds(1));
      channel.writeInbound(Unpooled.wrappedBuffer(frames(100, RawHttp2.PING, 8)));
      loop.run();
    }
    assertThat(refused).isNull();
  }

  @Test
  void refusesAHeadThatTakesTooLong() {
    channel.writeInbound(Unpooled.wrappedBuffer(frames(1, RawHttp2.HEADERS, 20)));
    loop.advance(HEAD_TIMEOUT.minusNanos(1));
    assertThat(refused).isNull();
    loop.advance(Duration.ofNanos(1));
    assertThat(((Http2Exception) refused).error()).isEqualTo(Http2Error.ENHANCE_YOUR_CALM);
  }

  @Test
  void givesBackWhatWaitsWhenTheConnectionEnds() {
    var bytes = Unpooled.wrappedBuffer(data(1_000));
    channel.writeInbound(bytes);
    channel.close();
    loop.run();
    assertThat(bytes.refCnt()).isZero();
  }
}
