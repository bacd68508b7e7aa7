package dev.activator.proxy.held;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.codec.Http2Head;
import dev.activator.proxy.policy.Replay;
import dev.activator.throttle.policy.MemoryBound;
import dev.activator.upstream.UpstreamConnection;
import dev.activator.upstream.UpstreamFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SentRequestTest {
  private final HeldBytes held = new HeldBytes(new MemoryBound(256 << 20));
  private final HeldBytes.Share share = held.share();

  private SentRequest post(HttpVersion version) {
    return SentRequest.of(new DefaultHttpRequest(version, HttpMethod.POST, "/"), share);
  }

  /** The pod is sent a part, and its connection is done with it. */
  private static void send(SentRequest sent, HttpContent part) {
    sent.add(part);
    part.release();
  }

  private static DefaultHttpContent part(String text) {
    return new DefaultHttpContent(Unpooled.buffer(2048).writeBytes(text.getBytes()));
  }

  private String givenBack(SentRequest sent) {
    var body = new RequestBody(share);
    sent.giveBack(body);
    var text = new StringBuilder();
    for (var part = body.poll(); part != null; part = body.poll()) {
      text.append(part.content().toString(StandardCharsets.US_ASCII));
      text.append(part instanceof LastHttpContent last ? "." + last.trailingHeaders().size() : "");
      part.release();
    }
    return text.toString();
  }

  /** One that has failed; all it is asked for is how far it got. */
  private record Failed(boolean reused, boolean headIsOut) implements UpstreamConnection {
    @Override
    public void write(HttpObject part) {}

    @Override
    public void flush() {}

    @Override
    public boolean isWritable() {
      return false;
    }

    @Override
    public void pauseReading() {}

    @Override
    public void resumeReading() {}

    @Override
    public void release() {}

    @Override
    public void close() {}
  }

  @ParameterizedTest(name = "{0}, used before {1}, head out {2}: {3}")
  @CsvSource({
      // What cannot be read is an answer, however it came.
      "MALFORMED, true, true, NOT_AT_ALL", "MALFORMED, true, false, NOT_AT_ALL",
      "MALFORMED, false, true, NOT_AT_ALL", "MALFORMED, false, false, NOT_AT_ALL",
      "CANCELLED, true, true, NOT_AT_ALL",
      // No answer, on a connection that may have been dead before.
      "CLOSED, true, true, ON_ANOTHER_CONNECTION", "RESET, true, true, ON_ANOTHER_CONNECTION",
      "CLOSED, false, true, NOT_AT_ALL",
      // The pod says that it has not looked, or cannot have.
      "NOT_TAKEN, false, true, ON_ANOTHER_CONNECTION",
      "RESET, false, false, ON_ANOTHER_CONNECTION"})
  void isSentAgainOnlyWhereThePodHasNotAnswered(UpstreamFailure failure, boolean reused,
      boolean headIsOut, Replay expected) {
    var get = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");

    var replay = SentRequest.of(get, share).replay(new Failed(reused, headIsOut), failure);

    assertThat(replay).isEqualTo(expected);
  }

  @Test
  void copiesNothingOfWhatIsForgottenOnceItIsWritten() {
    var sent = post(HttpVersion.HTTP_1_1);
    var part = part("hello");

    sent.add(part);
    assertThat(part.refCnt()).isEqualTo(2);
    sent.headIsOut();

    assertThat(part.refCnt()).isOne();
    assertThat(held.total()).isZero();
    part.release();
  }

  @Test
  void keepsNoLargeBufferOnceTheHeadIsOut() {
    // given parts before and after
    var sent = post(Http2Head.VERSION);
    List<ByteBuf> buffers = new ArrayList<>();
    for (String text : List.of("a", "b", "c", "d")) {
      var part = part(text);
      buffers.add(part.content());
      send(sent, part);
      if (text.equals("b")) {
        sent.headIsOut();
      }
    }
    var last = new DefaultLastHttpContent(Unpooled.buffer(2048).writeByte('e'));
    last.trailingHeaders().add("Sum", "1");
    buffers.add(last.content());
    send(sent, last);

    assertThat(buffers).allMatch(buffer -> buffer.refCnt() == 0);
    assertThat(givenBack(sent)).isEqualTo("abcde.1");
    assertThat(held.total()).isZero();
  }

  @Test
  void countsWhatPartsTakeBeyondTheirBytes() {
    var sent = post(Http2Head.VERSION);
    send(sent, part("x".repeat(2_000)));
    send(sent, part("y".repeat(2_000)));
    assertThat(held.total()).isEqualTo(2 * (Parts.PART_BYTES + 2_000));

    var last = new DefaultLastHttpContent();
    last.trailingHeaders().add("Sum", "z".repeat(1_000));
    send(sent, last);
    assertThat(held.total()).isGreaterThan(5_000 + 3 * Parts.PART_BYTES);

    sent.forget();
    assertThat(held.total()).isZero();
  }

  @Test
  void keepsNothingOfABodyWhosePartsTakeMoreThanTheBound() {
    // given 60 parts of 1,025 bytes, which are 61,500 bytes and take 69,180
    var sent = post(Http2Head.VERSION);
    long most = 0;
    for (int i = 0; i < 60; i++) {
      send(sent, part("x".repeat(1_025)));
      most = Math.max(most, held.total());
    }

    assertThat(most).isBetween(60_000L, 65_536L);
    assertThat(held.total()).isZero();
  }

  @Test
  void keepsABodyInManyPartsOfOneByteAsFew() {
    var sent = post(Http2Head.VERSION);
    sent.headIsOut();
    for (int i = 0; i < 60_000; i++) {
      send(sent, part("x"));
    }

    // fifteen parts of 4 kB
    assertThat(held.total()).isEqualTo(60_000 + 15 * Parts.PART_BYTES);
    assertThat(givenBack(sent)).isEqualTo("x".repeat(60_000));
    assertThat(held.total()).isZero();
  }
}
