package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.ReadTurn;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.testing.VirtualLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What comes behind a request that waits. */
class Http1RequestReaderTest {
  private static final int WINDOW_BYTES = 64 << 10;

  private final HeldRequestBytes held = new HeldRequestBytes(new HeldMemoryLimit(256 << 20));
  private final EmbeddedChannel channel = new EmbeddedChannel(new Http1RequestDecoder());
  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final Http1RequestReader waiting = new Http1RequestReader(channel, loop,
      new ReadTurn(loop, this::takeWaiting), held.share(), Duration.ofMinutes(1),
      new ResettableTimer(loop, () -> {
      }), new AbusiveConnectionCounter());
  private final List<HttpObject> taken = new ArrayList<>();

  @BeforeEach
  void aHeadWaitsBehindARequestThatIsServed() {
    waiting.read(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"));
    waiting.read(LastHttpContent.EMPTY_LAST_CONTENT);
    waiting.read(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/"));
  }

  /** Takes what may be taken if each request is answered at once. */
  private void takeWaiting() {
    waiting.exchangeEnded();
    for (var part = waiting.next(); part != null; part = waiting.next()) {
      taken.add(part);
      waiting.exchangeEnded();
    }
  }

  @AfterEach
  void everythingIsGivenBack() {
    waiting.dropWaiting();
    assertThat(held.total()).isZero();
    channel.close();
  }

  @Test
  void keepsNoLargeBufferForTheSakeOfAFewBytes() {
    var small = Unpooled.buffer(2048).writeByte('a');
    var some = Unpooled.buffer(WINDOW_BYTES).writeBytes(new byte[5_000]);
    var most = Unpooled.buffer(WINDOW_BYTES).writeBytes(new byte[50_000]);

    for (ByteBuf buffer : List.of(small, some, most)) {
      waiting.read(new DefaultHttpContent(buffer));
    }

    assertThat(small.refCnt()).isZero();
    assertThat(some.refCnt()).isZero();
    assertThat(most.refCnt()).isOne();
  }

  @Test
  void holdsWhatItCountsOfABodyInPartsOfOneByteAndThenReadsNoMore() {
    // when a body comes in single bytes, for as long as any are read
    int bytes = 0;
    while (channel.config().isAutoRead()) {
      waiting.read(new DefaultHttpContent(Unpooled.copiedBuffer("x", StandardCharsets.US_ASCII)));
      bytes++;
    }

    // then the window is full
    assertThat(held.total()).isBetween((long) WINDOW_BYTES, WINDOW_BYTES + 200L);

    // and what was held are a few parts of some kB, of which nothing is lost
    takeWaiting();
    assertThat(taken).hasSizeLessThan(2 + WINDOW_BYTES / 4_000);
    assertThat(taken.stream().filter(HttpContent.class::isInstance)
        .mapToInt(part -> ((HttpContent) part).content().readableBytes()).sum()).isEqualTo(bytes);
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @Test
  void readsAgainOnceWhatFilledItIsDropped() {
    while (channel.config().isAutoRead()) {
      waiting.read(new DefaultHttpContent(Unpooled.buffer(8_000).writeZero(8_000)));
    }

    waiting.dropWaiting();

    assertThat(channel.config().isAutoRead()).isTrue();
    assertThat(held.total()).isZero();
  }

  @Test
  void countsTheEndsOfBodiesAndTheirTrailers() {
    long before = held.total();
    waiting.read(LastHttpContent.EMPTY_LAST_CONTENT);
    assertThat(held.total() - before).isPositive();

    before = held.total();
    var last = new DefaultLastHttpContent();
    last.trailingHeaders().add("First", "x".repeat(1_000)).add("Second", "y".repeat(2_000));
    waiting.read(last);
    assertThat(held.total() - before).isBetween(3_000L, 4_000L);
  }

  @Test
  void readsNoMoreOnceTrailersFillTheWindow() {
    int ends = 0;
    while (channel.config().isAutoRead()) {
      var last = new DefaultLastHttpContent();
      last.trailingHeaders().add("Trailer-Of-Some-Size", "x".repeat(8_000));
      waiting.read(last);
      ends++;
    }

    assertThat(ends).isBetween(7, 9);
  }

  @Test
  void countsARequestThatIsRefused() {
    long before = held.total();
    var refused = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/",
        Unpooled.EMPTY_BUFFER);
    refused.setDecoderResult(DecoderResult.failure(new IllegalArgumentException("malformed")));

    waiting.read(refused);

    assertThat(held.total() - before).isGreaterThan(500);
    takeWaiting();
    assertThat(taken).endsWith(refused);
  }

  @Test
  void keepsEndsApartFromWhatIsJoinedBeforeThem() {
    for (String part : List.of("a", "b")) {
      waiting.read(new DefaultHttpContent(Unpooled.buffer(2048).writeBytes(part.getBytes())));
    }
    var last = new DefaultLastHttpContent(Unpooled.buffer(2048).writeByte('c'));
    last.trailingHeaders().add("Sum", "1");
    waiting.read(last);

    takeWaiting();
    assertThat(taken).hasSize(3);
    assertThat(((HttpContent) taken.get(1)).content().toString(StandardCharsets.US_ASCII))
        .isEqualTo("ab");
    var end = (LastHttpContent) taken.get(2);
    assertThat(end.content().toString(StandardCharsets.US_ASCII)).isEqualTo("c");
    assertThat(end.trailingHeaders().get("Sum")).isEqualTo("1");
  }

  @Test
  void takesAFewPartsInEachTurnOfTheLoopAndReadsNoMoreUntilAllAreTaken() {
    takeWaiting();
    waiting.readEnds();
    taken.clear();

    // when the heads of many requests come in one turn, and each is answered at once
    int some = ReadTurn.MAX_PARTS;
    for (int i = 0; i < 3 * some; i++) {
      var part = waiting.read(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"));
      if (part != null) {
        taken.add(part);
        waiting.exchangeEnded();
      }
    }

    // then some are taken in each
    for (int turns = 1; turns <= 3; turns++) {
      assertThat(taken).hasSize(turns * some);
      assertThat(channel.config().isAutoRead()).isEqualTo(turns == 3);
      loop.turn();
    }
  }
}
