package dev.activator.proxy.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.HeaderFieldList;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.policy.WaitLimits;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestBufferTest {
  private final HeldRequestBytes held = new HeldRequestBytes(new HeldMemoryLimit(1_000_000));
  private final RequestBuffer body = new RequestBuffer(held.share());

  @Test
  void keepsNoLargeBufferForTheSakeOfAFewBytes() {
    // given parts of one byte, each in a buffer of its own
    List<ByteBuf> buffers = new ArrayList<>();
    for (char letter = 'a'; letter <= 'e'; letter++) {
      var buffer = Unpooled.buffer(2048).writeByte(letter);
      buffers.add(buffer);
      body.add(new DefaultHttpContent(buffer));
    }

    // then at most the first is kept, and nothing is lost
    assertThat(buffers.stream().filter(buffer -> buffer.refCnt() > 0)).hasSizeLessThan(2);
    assertThat(text(body)).isEqualTo("abcde");
    assertThat(buffers).allMatch(buffer -> buffer.refCnt() == 0);
  }

  @Test
  void countsWhatItHoldsUntilItIsTakenOrReleased() {
    body.add(new DefaultHttpContent(Unpooled.buffer().writeBytes(new byte[5_000])));
    body.add(new DefaultHttpContent(Unpooled.buffer().writeBytes(new byte[3_000])));
    body.add(LastHttpContent.EMPTY_LAST_CONTENT);
    assertThat(held.total()).isBetween(8_000L, 9_000L);
    assertThat(body.bytes()).isEqualTo((int) held.total());

    var first = body.poll();
    assertThat(first).isNotNull();
    ReferenceCountUtil.release(first);
    assertThat(held.total()).isBetween(3_000L, 4_000L);

    body.clear();
    assertThat(held.total()).isZero();
  }

  @Test
  void countsForTheRevisionWhileTheRequestWaits() {
    var place = new CountingPlace();
    body.add(new DefaultHttpContent(Unpooled.buffer().writeBytes(new byte[5_000])));
    body.countIn(place, 700);
    assertThat(place.held).isEqualTo(held.total()).isBetween(5_700L, 6_000L);

    body.add(new DefaultHttpContent(Unpooled.buffer().writeBytes(new byte[3_000])));
    assertThat(place.held).isEqualTo(held.total()).isBetween(8_700L, 9_000L);

    body.countOut();
    assertThat(place.held).isZero();
    assertThat(held.total()).isBetween(8_000L, 8_300L);
    body.clear();
    body.countOut();
    assertThat(place.held).isZero();
    assertThat(held.total()).isZero();
  }

  @Test
  void copiesNothingOfARequestThatRunsAndIsPassedOn() {
    var part = oneByte('a');

    body.add(part);

    assertThat(body.poll()).isSameAs(part);
    part.release();
  }

  @Test
  void keepsNoLargeBufferWhileTheRequestWaits() {
    // given a byte that came before it waited, and one that comes after
    var before = oneByte('a');
    var after = oneByte('b');
    var place = new CountingPlace();
    body.add(before);

    body.countIn(place, 700);
    assertThat(before.refCnt()).isZero();
    body.add(after);
    assertThat(after.refCnt()).isZero();
    assertThat(place.held).isEqualTo(held.total());

    // then nothing is lost
    body.countOut();
    assertThat(text(body)).isEqualTo("ab");
    assertThat(held.total()).isZero();
  }

  @Test
  void countsManyPartsOfOneByteAsWhatTheyTakeOnceJoined() {
    body.countIn(new CountingPlace(), 0);
    for (int i = 0; i < 10_000; i++) {
      body.add(oneByte('x'));
    }

    // three parts, of 4 kB at most, and the bytes
    assertThat(held.total()).isEqualTo(3 * RequestBuffer.PART_BYTES + 10_000);
    body.countOut();
    assertThat(text(body)).isEqualTo("x".repeat(10_000));
  }

  private static int cost(String head) {
    var connection = new EmbeddedChannel(new Http1RequestDecoder());
    connection.writeInbound(Unpooled.copiedBuffer(head, StandardCharsets.US_ASCII));
    HttpRequest request = connection.readInbound();
    connection.finishAndReleaseAll();
    return RequestBuffer.cost(request);
  }

  @Test
  void countsMoreForAHeadThanItsBytes() {
    // 512, a line of 14, and a field of 2 that takes 100 more
    assertThat(cost("GET / HTTP/1.1\r\nA:\r\n\r\n")).isEqualTo(512 + 14 + 2 + 100);
    assertThat(cost("GET / HTTP/1.1\r\n" + "A:\r\n".repeat(1_000) + "\r\n"))
        .isEqualTo(512 + 14 + 1_000 * 102);
  }

  @Test
  void countsFieldsOneByOneWhereTheirBytesAreNotKnown() {
    var fields = new DefaultHttpHeaders().add("X-T", "ab").add("X-U", "");
    assertThat(HeldRequestBytes.ofFields(HeaderFieldList.of(fields))).isEqualTo(105 + 103);
  }

  private static HttpContent oneByte(char letter) {
    return new DefaultHttpContent(Unpooled.buffer(2048).writeByte(letter));
  }

  private static String text(RequestBuffer body) {
    var text = new StringBuilder();
    for (var part = body.poll(); part != null; part = body.poll()) {
      text.append(((HttpContent) part).content().toString(StandardCharsets.US_ASCII));
      ReferenceCountUtil.release(part);
    }
    return text.toString();
  }

  /** Knows what is held. */
  private static final class CountingPlace implements QueueEntry {
    private long held;

    @Override
    public void addHeldBytes(int moreBytes) {
      held += moreBytes;
    }

    @Override
    public long heldBytes() {
      return held;
    }

    @Override
    public void giveUp() {
      throw new AssertionError();
    }

    @Override
    public WaitLimits limits() {
      throw new AssertionError();
    }

    @Override
    public long podsNanos() {
      throw new AssertionError();
    }

    @Override
    public int retryAfterSeconds() {
      throw new AssertionError();
    }
  }
}
