package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.ReadTurn;
import dev.activator.http.FrameBudget;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.FakeThrottle;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.VirtualLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What one connection may have its loop do: counted in turns of the loop, by answers to PING. */
class Http2FloodLimiterTest {
  private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  private static final Duration HEAD_TIMEOUT = Duration.ofSeconds(60);
  private static final int FRAME_HEADER_BYTES = 9;

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final AbusiveConnectionCounter ended = new AbusiveConnectionCounter();
  private final HeldRequestBytes held = new HeldRequestBytes(new HeldMemoryLimit(1 << 20));
  private final HeldRequestBytes.Share share = held.share();
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private int answered;
  private int requests;
  private Duration requestTakes = Duration.ZERO;

  @BeforeEach
  void opens() {
    var dispatcher = Dispatchers.of(loop, Revision.of(new RevisionId("default", "hello"), 0),
        (of, caller) -> {
          requests++;
          loop.advance(requestTakes);
          return new FakeThrottle().admit(of, caller);
        }, new FakePod(), share);
    channel.pipeline().addLast(Http2CallerSession.of(channel, dispatcher, HEAD_TIMEOUT, ended));
    receives(PREFACE.getBytes(StandardCharsets.US_ASCII));
    receives(RawHttp2.bytes(RawHttp2.SETTINGS, 0, 0, new byte[0]));
    answers();
  }

  @AfterEach
  void nothingIsLeft() {
    channel.finishAndReleaseAll();
    assertThat(held.total()).isZero();
  }

  private void receives(byte[] bytes) {
    channel.writeInbound(Unpooled.wrappedBuffer(bytes));
  }

  /** How many PINGs have been answered so far. */
  private int answers() {
    var out = new ByteArrayOutputStream();
    for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
      byte[] copy = new byte[next.readableBytes()];
      next.readBytes(copy).release();
      out.writeBytes(copy);
    }
    var frames = Unpooled.wrappedBuffer(out.toByteArray());
    while (frames.isReadable()) {
      int length = frames.readUnsignedMedium();
      answered += frames.readByte() == RawHttp2.PING ? 1 : 0;
      frames.skipBytes(FRAME_HEADER_BYTES - 4 + length);
    }
    return answered;
  }

  private static byte[] pings(int count) {
    var all = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      all.writeBytes(RawHttp2.bytes(RawHttp2.PING, 0, 0, new byte[8]));
    }
    return all.toByteArray();
  }

  private static byte[] heads(int count) {
    var all = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      all.writeBytes(
          RawHttp2.bytes(RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, 2 * i + 1,
              RawHttp2.encode(":method", "GET", ":scheme", "http", ":path", "/", ":authority",
                  "hello")));
    }
    return all.toByteArray();
  }

  @Test
  void handlesAFewFramesInEachTurnAndReadsNoMoreUntilAllAreHandled() {
    receives(pings(5 * ReadTurn.MAX_PARTS));

    for (int turns = 1; turns < 5; turns++) {
      assertThat(answers()).isEqualTo(turns * ReadTurn.MAX_PARTS);
      assertThat(channel.config().isAutoRead()).isFalse();
      loop.turn();
    }
    assertThat(answers()).isEqualTo(5 * ReadTurn.MAX_PARTS);
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @Test
  void leavesAHeadToTheNextTurnIfThoseBeforeTookLong() {
    requestTakes = Duration.ofNanos(ReadTurn.MAX_NANOS / 2);
    receives(heads(6));

    for (int turns = 1; turns <= 3; turns++) {
      assertThat(requests).isEqualTo(2 * turns);
      loop.turn();
    }
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @Test
  void refusesTheFrameThatIsTooManyAndHandlesNothingAfterIt() {
    // The first frame was one already.
    for (int i = 1; i < FrameBudget.BURST; i++) {
      receives(pings(1));
    }
    assertThat(answers()).isEqualTo(FrameBudget.BURST - 1);
    assertThat(ended.count(AbusiveConnectionCounter.Reason.CONTROL_FRAMES)).isZero();

    receives(pings(2));

    assertThat(answers()).isEqualTo(FrameBudget.BURST - 1);
    assertThat(ended.count(AbusiveConnectionCounter.Reason.CONTROL_FRAMES)).isOne();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void refusesNoneThatComesSlowlyEnough() {
    for (int second = 0; second < 100; second++) {
      loop.advance(Duration.ofSeconds(1));
      receives(pings(100));
      loop.run();
    }
    assertThat(answers()).isEqualTo(10_000);
  }

  @Test
  void refusesAHeadThatTakesTooLong() {
    receives(RawHttp2.bytes(RawHttp2.HEADERS, 0, 1, new byte[20]));
    assertThat(held.total()).isPositive();
    loop.advance(HEAD_TIMEOUT.minusNanos(1));
    assertThat(channel.isOpen()).isTrue();

    loop.advance(Duration.ofNanos(1));

    assertThat(channel.isOpen()).isFalse();
    assertThat(ended.count(AbusiveConnectionCounter.Reason.SLOW_HEAD)).isOne();
  }

  /** The code of a backslash has 19 bits. */
  private static byte[] backslashes(int count) {
    var bits = "1111111111111110000".repeat(count);
    var whole = bits + "1".repeat(Math.floorMod(-bits.length(), 8));
    var value = new BigInteger("1" + whole, 2).toByteArray();
    int length = value.length - 1;
    var out = Unpooled.buffer().writeByte(0xff).writeByte(length - 127);
    return ByteBufUtil.getBytes(out.writeBytes(value, 1, length));
  }

  @Test
  void countsAnHpackTableThatKeepsMoreThanItsText() {
    // Without a path, so that it is refused.
    var get = new byte[]{(byte) 0x82, (byte) 0x86, 0x41, 1, 'x'};
    int flags = RawHttp2.END_HEADERS | RawHttp2.END_STREAM;
    receives(RawHttp2.bytes(RawHttp2.HEADERS, flags, 1, get));
    assertThat(held.total()).isZero();

    // A field with incremental indexing, whose value is in Huffman's code.
    var field = Unpooled.wrappedBuffer(get, new byte[]{0x40, 1, 'a'}, backslashes(100));
    receives(RawHttp2.bytes(RawHttp2.HEADERS, flags, 3, ByteBufUtil.getBytes(field)));

    assertThat(held.total()).isBetween(300L, 500L);
  }

  @Test
  void countsWhatARefusedHeadLeavesInTheHpackTable() {
    // After a name in upper case Netty puts the rest into the table unseen.
    var field = Unpooled.wrappedBuffer(new byte[]{(byte) 0x82, 0, 1, 'A', 0, 0x40, 1, 'a'},
        backslashes(100));
    receives(RawHttp2.bytes(RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, 1,
        ByteBufUtil.getBytes(field)));

    assertThat(held.total()).isBetween(300L, 600L);
  }

  @Test
  void aHeadThatBeginsAtTheEndOfTheOneBeforeIsYoungerThanThoseOfOthers() {
    var get = new byte[]{(byte) 0x82};
    receives(RawHttp2.bytes(RawHttp2.HEADERS, RawHttp2.END_STREAM, 1, get));
    var refused = new ArrayList<Integer>();
    var others = IntStream.range(0, 8)
        .mapToObj(i -> share.partialHead(() -> refused.add(i))).toList();
    others.getFirst().grew(HeldMemoryLimit.LARGE_HEAD_BYTES);

    // when the next head begins, and others reach the bound
    receives(ByteBufUtil.getBytes(Unpooled.wrappedBuffer(
        RawHttp2.bytes(RawHttp2.CONTINUATION, RawHttp2.END_HEADERS, 1, new byte[0]),
        RawHttp2.bytes(RawHttp2.HEADERS, RawHttp2.END_STREAM, 3, get))));
    others.forEach(other -> other.grew(HeldMemoryLimit.LARGE_HEAD_BYTES));

    assertThat(refused).containsExactly(0);
    assertThat(channel.isOpen()).isTrue();
    others.forEach(HeldRequestBytes.PartialHead::ended);
  }

  @Test
  void givesBackWhatWaitsWhenTheConnectionEnds() {
    var bytes = Unpooled.wrappedBuffer(pings(500));
    channel.writeInbound(bytes);
    channel.close();
    loop.run();
    assertThat(bytes.refCnt()).isZero();
  }
}
