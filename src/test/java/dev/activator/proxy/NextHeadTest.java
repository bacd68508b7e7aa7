package dev.activator.proxy;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.DeadlineTimer;
import dev.activator.proxy.EndedConnections.Reason;
import dev.activator.proxy.codec.RequestDecoder;
import dev.activator.proxy.exchange.HeldBytes;
import dev.activator.proxy.policy.MemoryBound;
import dev.activator.testing.VirtualLoop;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NextHeadTest {
  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final HeldBytes held = new HeldBytes(new MemoryBound(1 << 20));
  private final EndedConnections ended = new EndedConnections();
  private final RequestDecoder decoder = new RequestDecoder();
  private final EmbeddedChannel channel = new EmbeddedChannel(decoder);
  private final DeadlineTimer timer = new DeadlineTimer(loop, this::check);
  private final NextHead head = new NextHead(channel, decoder, loop, held.share(), ofSeconds(60),
      timer, ended);
  private boolean late;

  private void check() {
    late |= head.isLate();
  }

  @AfterEach
  void closes() {
    head.close();
    channel.finishAndReleaseAll();
    assertThat(held.total()).isZero();
  }

  private void receives(String text) {
    channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
  }

  @Test
  void isLateIfNothingComesInTime() {
    head.await();
    loop.advance(ofMillis(59_999));
    assertThat(late).isFalse();

    loop.advance(ofMillis(1));

    assertThat(late).isTrue();
    assertThat(ended.count(Reason.SLOW_HEAD)).as("it had not begun").isZero();
  }

  @Test
  void mayComeAnyTimeAfterARequestAndHasATimeOfItsOwnOnceItBegins() {
    head.await();
    head.messageRead();
    head.readEnds(false);
    loop.advance(ofMinutes(10));
    assertThat(late).isFalse();

    // when its first byte comes, and another half a minute later
    receives("G");
    head.readEnds(true);
    assertThat(head.isBegun()).isTrue();
    loop.advance(ofSeconds(30));
    receives("E");
    head.readEnds(true);
    loop.advance(ofMillis(29_999));
    assertThat(late).isFalse();

    loop.advance(ofMillis(1));
    assertThat(late).isTrue();
    assertThat(ended.count(Reason.SLOW_HEAD)).isOne();
  }

  @Test
  void doesNotBeginWithTheReadThatEndsARequest() {
    head.messageRead();
    head.readEnds(true);

    assertThat(head.isBegun()).isFalse();
  }

  @Test
  void hasItsTimeIfItBeginsInTheReadThatEndsARequest() {
    receives("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /");
    head.messageRead();
    head.readEnds(true);

    loop.advance(ofMinutes(1));

    assertThat(late).isTrue();
    assertThat(ended.count(Reason.SLOW_HEAD)).isOne();
  }

  @Test
  void hasItsTimeFromTheEndOfTheRequestBeforeIt() {
    receives("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /");
    head.messageRead();
    head.readEnds(false);
    loop.advance(ofMinutes(10));
    assertThat(late).isFalse();

    head.mayBegin();
    loop.advance(ofMinutes(1));

    assertThat(late).isTrue();
  }

  @Test
  void isCountedWhileItIsIncomplete() {
    receives("GET / HTTP/1.1\r\nHost: " + "x".repeat(1_000));
    head.readEnds(true);
    assertThat(held.total()).isGreaterThan(1_000);

    receives("\r\n\r\n");
    head.messageRead();

    assertThat(held.total()).isZero();
  }
}
