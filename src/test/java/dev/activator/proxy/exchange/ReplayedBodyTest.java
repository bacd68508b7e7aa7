package dev.activator.proxy.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.codec.Http2HeadParser;
import dev.activator.proxy.policy.ReplayDecision;
import dev.activator.upstream.UpstreamFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a request is sent again, and what is kept of its body until then. */
class ReplayedBodyTest {
  /** What a part costs beyond its bytes. */
  private static final int PART_BYTES = 128;

  private final OnePod scene = new OnePod();
  private final FakePod pod = scene.pod;
  private final HeldRequestBytes held = scene.held;
  private final SilentCaller caller = scene.caller;

  @AfterEach
  void nothingIsHeld() {
    assertThat(held.total()).isZero();
  }

  /** A request that is on its way, on a new connection. */
  private FakePod.Connection send(HttpVersion version, HttpMethod method) {
    scene.send(version, method);
    return pod.accepts();
  }

  private void send(HttpContent part) {
    caller.exchange().content(part);
    caller.exchange().flushUpstream();
  }

  private static DefaultHttpContent part(String text) {
    return new DefaultHttpContent(Unpooled.buffer(2048).writeBytes(text.getBytes()));
  }

  /** What the pod gets on another connection. */
  private String sentAgainAfter(FakePod.Connection lost) {
    lost.fails(UpstreamFailure.NOT_PROCESSED);
    return pod.accepts().body();
  }

  @ParameterizedTest(name = "{0}, used before {1}, head out {2}: {3}")
  @CsvSource({
      // What cannot be read is an answer, however it came.
      "MALFORMED, true, true, NOT_AT_ALL", "MALFORMED, true, false, NOT_AT_ALL",
      "MALFORMED, false, true, NOT_AT_ALL", "MALFORMED, false, false, NOT_AT_ALL",
      "CANCELLED, true, true, NOT_AT_ALL", "INTERNAL_ERROR, true, true, NOT_AT_ALL",
      "STREAM_RESET, true, true, NOT_AT_ALL",
      // No answer, on a connection that may have been dead before.
      "CLOSED, true, true, ON_ANOTHER_CONNECTION", "RESET, true, true, ON_ANOTHER_CONNECTION",
      "CLOSED, false, true, NOT_AT_ALL",
      // The pod says that it has not looked, or cannot have.
      "NOT_PROCESSED, false, true, ON_ANOTHER_CONNECTION",
      "RESET, false, false, ON_ANOTHER_CONNECTION"})
  void isSentAgainOnlyWhereThePodHasNotAnswered(UpstreamFailure failure, boolean reused,
      boolean headIsOut, ReplayDecision expected) {
    var kept = reused ? pod.keepsOne() : null;
    scene.send(HttpVersion.HTTP_1_1, HttpMethod.GET);
    var connection = kept == null ? pod.accepts() : kept;
    if (headIsOut) {
      connection.sendsHead();
    }

    connection.fails(failure);

    boolean again = expected == ReplayDecision.ON_ANOTHER_CONNECTION;
    assertThat(pod.isDialled()).isEqualTo(again);
    assertThat(caller.statuses).isEqualTo(again ? List.of() : List.of(502));
  }

  @Test
  void isNotKeptOnceTheHeadIsOutOfARequestThatIsNotSentAgain() {
    var connection = send(HttpVersion.HTTP_1_1, HttpMethod.POST);
    var part = part("hello");

    caller.exchange().content(part);
    assertThat(part.refCnt()).as("the connection's, and what is kept without a copy").isEqualTo(2);
    connection.sendsHead();
    caller.exchange().flushUpstream();

    assertThat(part.refCnt()).isZero();
    assertThat(held.total()).isZero();
    caller.exchange().callerGone();
  }

  @Test
  void keepsNoLargeBufferOnceTheHeadIsOut() {
    // given parts before and after
    var connection = send(Http2HeadParser.VERSION, HttpMethod.POST);
    List<ByteBuf> buffers = new ArrayList<>();
    for (String text : List.of("a", "b", "c", "d")) {
      var part = part(text);
      buffers.add(part.content());
      if (text.equals("b")) {
        connection.sendsHead();
      }
      send(part);
    }
    var last = new DefaultLastHttpContent(Unpooled.buffer(2048).writeByte('e'));
    last.trailingHeaders().add("Sum", "1");
    buffers.add(last.content());
    send(last);

    assertThat(buffers).allMatch(buffer -> buffer.refCnt() == 0);
    assertThat(sentAgainAfter(connection)).isEqualTo("abcde.1");
    caller.exchange().callerGone();
  }

  @Test
  void isCountedWithWhatPartsCostBeyondTheirBytes() {
    send(Http2HeadParser.VERSION, HttpMethod.POST);
    send(part("x".repeat(2_000)));
    send(part("y".repeat(2_000)));
    assertThat(held.total()).isEqualTo(2 * (PART_BYTES + 2_000));

    var last = new DefaultLastHttpContent();
    last.trailingHeaders().add("Sum", "z".repeat(1_000));
    send(last);
    assertThat(held.total()).isGreaterThan(5_000 + 3 * PART_BYTES);

    caller.exchange().callerGone();
    assertThat(held.total()).isZero();
  }

  @Test
  void isNotKeptWhereItsPartsCostMoreThanTheBound() {
    // given 60 parts of 1,025 bytes, which are 61,500 bytes and cost 69,180
    var connection = send(Http2HeadParser.VERSION, HttpMethod.POST);
    long most = 0;
    for (int i = 0; i < 60; i++) {
      send(part("x".repeat(1_025)));
      most = Math.max(most, held.total());
    }

    assertThat(most).isBetween(60_000L, 65_536L);
    assertThat(held.total()).isZero();

    connection.fails(UpstreamFailure.NOT_PROCESSED);
    assertThat(caller.statuses).containsExactly(502);
  }

  @Test
  void isKeptAsAFewPartsWhereItCameInManyOfOneByte() {
    var connection = send(Http2HeadParser.VERSION, HttpMethod.POST);
    connection.sendsHead();
    for (int i = 0; i < 60_000; i++) {
      send(part("x"));
    }

    // fifteen parts of 4 kB
    assertThat(held.total()).isEqualTo(60_000 + 15 * PART_BYTES);
    assertThat(sentAgainAfter(connection)).isEqualTo("x".repeat(60_000));
    caller.exchange().callerGone();
  }
}
