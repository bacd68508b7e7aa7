package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.proxy.AbusiveConnectionCounter.Reason;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.http.Http1Encoder.ResponseEncoder;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.revision.Destination;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.FakeThrottle;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.upstream.UpstreamFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Http1CallerConnectionTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello");
  private static final Duration HEAD_TIMEOUT = Duration.ofSeconds(60);
  private static final String WAITING = "GET / HTTP/1.1\r\nHost: hello\r\n\r\n";
  private static final String ANSWERED_AT_ONCE = "GET / HTTP/1.1\r\nHost: hello\r\nUser-Agent: kube-probe/1.34\r\n\r\n";
  private static final String CHUNKED_ANSWERED_AT_ONCE = "POST / HTTP/1.1\r\nHost: hello\r\n"
      + "User-Agent: kube-probe/1.34\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n";
  private static final String UPGRADE_ANSWERED_AT_ONCE = "GET / HTTP/1.1\r\nHost: hello\r\n"
      + "User-Agent: kube-probe/1.34\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n";

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakeThrottle throttle = new FakeThrottle();
  private final AbusiveConnectionCounter ended = new AbusiveConnectionCounter();
  private final HeldRequestBytes held = new HeldRequestBytes(new HeldMemoryLimit(1 << 20));
  private int admitted;
  private boolean fails;
  private final CallerChannel channel = new CallerChannel();
  private final FakePod pod = new FakePod();

  Http1CallerConnectionTest() {
    var dispatcher = Dispatchers.of(loop, Revision.of(HELLO, 0), (revision, caller) -> {
      admitted++;
      if (fails) {
        throw new AssertionError("on purpose");
      }
      return throttle.admit(revision, caller);
    }, pod, held.share());
    channel.pipeline().addLast(new Http1RequestDecoder(), new ResponseEncoder());
    channel.pipeline().addLast(
        new Http1CallerConnection(channel, dispatcher, HEAD_TIMEOUT, ended));
  }

  @AfterEach
  void nothingIsLeft() {
    channel.finishAndReleaseAll();
    assertThat(held.total()).isZero();
  }

  /** With 40, the requests in between take more than a turn of the loop. */
  @ParameterizedTest
  @ValueSource(ints = {2, 40})
  void aHeadHasItsTimeFromTheEndOfAllRequestsBeforeIt(int between) {
    var all = WAITING + ANSWERED_AT_ONCE.repeat(between) + WAITING + "GET /";
    channel.writeInbound(Unpooled.copiedBuffer(all, StandardCharsets.US_ASCII));
    rejectWaiting();
    assertThat(throttle.queued()).isOne();
    loop.advance(HEAD_TIMEOUT.dividedBy(2));

    rejectWaiting();

    assertThat(throttle.queued()).isZero();
    loop.advance(HEAD_TIMEOUT.minusNanos(1));
    assertThat(channel.isOutputShutdown()).isFalse();
    loop.advance(Duration.ofNanos(1));
    assertThat(channel.isOutputShutdown()).isTrue();
    assertThat(ended.count(Reason.SLOW_HEAD)).isOne();
  }

  @Test
  void keepsTheConnection_whenTheCallerReadsTheLastResponseSlowlyAndIsStillSending() {
    channel.writeInbound(Unpooled.copiedBuffer("POST / HTTP/1.1\r\nHost: hello\r\n"
        + "Content-Length: 10\r\nConnection: close\r\n\r\n", StandardCharsets.US_ASCII));
    channel.takes = false;
    rejectWaiting();
    loop.advance(Duration.ofSeconds(10));
    assertThat(channel.isOpen()).isTrue();
    assertThat(channel.<ByteBuf>readOutbound()).isNull();

    channel.takes = true;
    channel.flush();

    ByteBuf response = channel.readOutbound();
    assertThat(response.toString(StandardCharsets.US_ASCII)).startsWith("HTTP/1.1 503 ");
    response.release();
    assertThat(channel.isOutputShutdown()).isTrue();
    loop.advance(Duration.ofMillis(499));
    assertThat(channel.isOpen()).isTrue();
    loop.advance(Duration.ofMillis(1));
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void deliversTheResponsesBefore_whenThePodBreaksOneOffAndTheCallerStillSends() {
    channel.takes = false;
    receives(ANSWERED_AT_ONCE + WAITING + "GET / HT");
    podAnswers().fails(UpstreamFailure.CLOSED);
    loop.run();

    channel.takes = true;
    channel.flush();

    assertThat(responses()).matches("(?s)HTTP/1.1 200 .*HTTP/1.1 200 .*")
        .doesNotEndWith("0\r\n\r\n");
    assertThat(channel.isOutputShutdown()).isTrue();
    assertThat(channel.isOpen()).isTrue();
    loop.advance(Duration.ofMillis(500));
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void ends_whenThePodBreaksAResponseOffThatTheCallerDoesNotRead() {
    channel.takes = false;
    receives(WAITING);
    podAnswers().fails(UpstreamFailure.CLOSED);

    loop.advance(RequestTimeouts.DEFAULT.overall());

    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void isNotSlow_whenAnEmptyLineFollowsARequest() {
    receives(WAITING + "\r\n");
    rejectWaiting();

    loop.advance(HEAD_TIMEOUT.multipliedBy(3));
    assertThat(channel.isOpen()).isTrue();
    assertThat(ended.count(Reason.SLOW_HEAD)).isZero();

    // and the time of the next head begins with its first byte
    receives("G");
    loop.advance(HEAD_TIMEOUT);
    assertThat(channel.isOutputShutdown()).isTrue();
    assertThat(ended.count(Reason.SLOW_HEAD)).isOne();
  }

  @Test
  void beginsNoOtherRequest_whenItsResponsesAreNotReadAndItEnds() {
    receives(WAITING.repeat(2));
    assertThat(throttle.queued()).isOne();

    channel.pipeline().get(Http1CallerConnection.class).endUnread(1);
    loop.run();

    assertThat(channel.isOpen()).isFalse();
    assertThat(admitted).isOne();
  }

  @Test
  void saysWhichResponseIsTheLast_whenItDrainsWhilePipelinedRequestsWaitForTheirTurn() {
    // given more requests than a turn of the loop has room for
    receives(ANSWERED_AT_ONCE.repeat(40));
    assertThat(responses()).contains("HTTP/1.1 200 ").doesNotContain("close");

    // when it drains before the next turn
    channel.pipeline().fireUserEventTriggered(ProxyServer.Drain.NOW);
    loop.run();

    // then one more gets a response, and the caller knows that the others may be sent again
    assertThat(responses().toLowerCase(Locale.ROOT)).containsOnlyOnce("http/1.1 200 ")
        .contains("connection: close");
    assertThat(channel.isOutputShutdown()).isTrue();
  }

  @Test
  void saysWhichResponseIsTheLast_whenItDrainsWhileTheEndOfABodyWaitsBeforeARequest() {
    // given a body that was not wanted, and whose last part is beyond the turn
    receives(ANSWERED_AT_ONCE.repeat(31) + CHUNKED_ANSWERED_AT_ONCE + ANSWERED_AT_ONCE);

    drainSaysWhichIsTheLast();
  }

  @Test
  void saysWhichResponseIsTheLast_whenItDrainsBeforeWhatFollowsARefusedUpgradeIsParsed() {
    receives(UPGRADE_ANSWERED_AT_ONCE + ANSWERED_AT_ONCE);

    drainSaysWhichIsTheLast();
  }

  private void drainSaysWhichIsTheLast() {
    assertThat(responses()).contains("HTTP/1.1 200 ").doesNotContain("close");
    channel.pipeline().fireUserEventTriggered(ProxyServer.Drain.NOW);
    loop.run();
    assertThat(responses().toLowerCase(Locale.ROOT)).containsOnlyOnce("http/1.1 200 ")
        .contains("connection: close");
    assertThat(channel.isOutputShutdown()).isTrue();
  }

  @Test
  void endsWhenItDrains_ifNoRequestFollowsTheEndOfABodyThatWaits() {
    receives(ANSWERED_AT_ONCE.repeat(31) + CHUNKED_ANSWERED_AT_ONCE);
    channel.pipeline().fireUserEventTriggered(ProxyServer.Drain.NOW);
    loop.run();
    assertThat(channel.isOutputShutdown()).isTrue();
  }

  @Test
  void endsWhenItDrains_ifOnlyAnEmptyLineFollowsARefusedUpgrade() {
    receives(UPGRADE_ANSWERED_AT_ONCE + "\r\n");
    channel.pipeline().fireUserEventTriggered(ProxyServer.Drain.NOW);
    loop.run();
    assertThat(channel.isOutputShutdown()).isTrue();
  }

  @Test
  void saysThatTheResponseIsTheLast_whenMuchOfTheBodyIsStillToCome() {
    receives(uploadAnsweredAtOnce("Content-Length: 262145"));

    assertThat(responses().toLowerCase(Locale.ROOT)).startsWith("http/1.1 200 ")
        .contains("connection: close");
    assertThat(channel.isOutputShutdown()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Content-Length: 262144", "Transfer-Encoding: chunked"})
  void readsTheRestOfTheBody_whenItHasNotSaidThatTheResponseIsTheLast(String framing) {
    receives(uploadAnsweredAtOnce(framing));
    assertThat(responses().toLowerCase(Locale.ROOT)).startsWith("http/1.1 200 ")
        .doesNotContain("connection: close");

    receives(framing.endsWith("4")
        ? "x".repeat(262_144)
        : ("80000\r\n" + "x".repeat(0x80000) + "\r\n").repeat(3) + "0\r\n\r\n");
    loop.run();
    receives(ANSWERED_AT_ONCE);

    assertThat(responses()).startsWith("HTTP/1.1 200 ");
    assertThat(channel.isOutputShutdown()).isFalse();
  }

  private static String uploadAnsweredAtOnce(String framing) {
    return "POST / HTTP/1.1\r\nHost: hello\r\nUser-Agent: kube-probe/1.34\r\n" + framing
        + "\r\n\r\n";
  }

  @Test
  void takesTheNextRequest_whenTheOneBeforeFailed() {
    receives(WAITING.repeat(3));
    fails = true;
    assertThatThrownBy(this::rejectWaiting).hasMessage("on purpose");
    fails = false;

    // when the time of the one that failed is over
    loop.advance(RequestTimeouts.DEFAULT.overall());

    assertThat(throttle.queued()).isOne();
    assertThat(admitted).isEqualTo(3);
  }

  @Test
  void answersTheNextRequestAsTheLast_whenItDrainsWithinAResponseThatDidNotSayClose() {
    receives(WAITING.repeat(3));
    var first = podAnswers();
    assertThat(responses()).contains("HTTP/1.1 200 ").doesNotContain("close");

    channel.pipeline().fireUserEventTriggered(ProxyServer.Drain.NOW);
    first.sends(LastHttpContent.EMPTY_LAST_CONTENT);
    loop.run();

    // then the caller is told which is the last, and knows that the third may be sent again
    assertThat(channel.isOutputShutdown()).isFalse();
    podAnswers().sends(LastHttpContent.EMPTY_LAST_CONTENT);
    assertThat(responses().toLowerCase(Locale.ROOT)).containsOnlyOnce("http/1.1 200 ")
        .contains("connection: close");
    assertThat(channel.isOutputShutdown()).isTrue();
    assertThat(admitted).isEqualTo(2);
  }

  @Test
  void endsWithTheResponse_whenItDrainsWithinOneThatDidNotSayCloseAndNoRequestFollows() {
    receives(WAITING);
    var only = podAnswers();

    channel.pipeline().fireUserEventTriggered(ProxyServer.Drain.NOW);
    assertThat(channel.isOutputShutdown()).isFalse();
    only.sends(LastHttpContent.EMPTY_LAST_CONTENT);

    assertThat(responses()).endsWith("0\r\n\r\n");
    assertThat(channel.isOutputShutdown()).isTrue();
  }

  /** The pod's response begins, without a length. */
  private FakePod.Connection podAnswers() {
    throttle.grow(new Destination("10.1.1.1", 8012), 1);
    loop.run();
    var connection = pod.accepts();
    connection.answers(200);
    channel.flush();
    return connection;
  }

  private String responses() {
    var text = new StringBuilder();
    for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
      text.append(part.toString(StandardCharsets.US_ASCII));
      part.release();
    }
    return text.toString();
  }

  private void receives(String text) {
    channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
  }

  private void rejectWaiting() {
    throttle.reject(new Rejection.QueueFull(HELLO, 1));
    loop.run();
  }
}
