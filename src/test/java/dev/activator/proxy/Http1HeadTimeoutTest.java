package dev.activator.proxy;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.ReadTurn;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.AbusiveConnectionCounter.Reason;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.testing.VirtualLoop;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The next head of an HTTP/1 connection, of which only a part has come. */
class Http1HeadTimeoutTest {
  private static final String REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final HeldRequestBytes held = new HeldRequestBytes(new HeldMemoryLimit(1 << 20));
  private final AbusiveConnectionCounter ended = new AbusiveConnectionCounter();
  private final Http1RequestDecoder decoder = new Http1RequestDecoder();
  private final EmbeddedChannel channel = new EmbeddedChannel(decoder);
  private final ResettableTimer timer = new ResettableTimer(loop, this::check);
  private final Http1RequestReader reader = new Http1RequestReader(channel, loop,
      new ReadTurn(loop, () -> {
      }), held.share(), ofSeconds(60), timer, ended);
  private boolean late;

  private void check() {
    late |= reader.isLate();
  }

  @AfterEach
  void closes() {
    reader.close();
    channel.finishAndReleaseAll();
    assertThat(held.total()).isZero();
  }

  private void receives(String text) {
    channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
    for (var part = channel.readInbound(); part != null; part = channel.readInbound()) {
      ReferenceCountUtil.release(reader.read(part));
    }
  }

  /** @param idle whether no request is under way */
  private void readEnds(boolean idle) {
    if (idle) {
      reader.exchangeEnded();
    }
    reader.readEnds();
  }

  @Test
  void isLateIfNothingComesInTime() {
    reader.awaitHead();
    loop.advance(ofMillis(59_999));
    assertThat(late).isFalse();

    loop.advance(ofMillis(1));

    assertThat(late).isTrue();
    assertThat(ended.count(Reason.SLOW_HEAD)).as("it had not begun").isZero();
  }

  @Test
  void mayComeAnyTimeAfterARequestAndHasItsOwnTimeoutOnceItBegins() {
    reader.awaitHead();
    receives(REQUEST);
    readEnds(false);
    loop.advance(ofMinutes(10));
    assertThat(late).isFalse();

    // when its first byte comes, and another half a minute later
    receives("G");
    readEnds(true);
    assertThat(reader.holdsBytes()).isTrue();
    loop.advance(ofSeconds(30));
    receives("E");
    readEnds(true);
    loop.advance(ofMillis(29_999));
    assertThat(late).isFalse();

    loop.advance(ofMillis(1));
    assertThat(late).isTrue();
    assertThat(ended.count(Reason.SLOW_HEAD)).isOne();
  }

  @Test
  void doesNotBeginWithTheReadThatEndsARequest() {
    receives(REQUEST);
    readEnds(true);

    assertThat(reader.holdsBytes()).isFalse();
  }

  @Test
  void hasItsTimeIfItBeginsInTheReadThatEndsARequest() {
    receives(REQUEST + "GET /");
    readEnds(true);

    loop.advance(ofMinutes(1));

    assertThat(late).isTrue();
    assertThat(ended.count(Reason.SLOW_HEAD)).isOne();
  }

  @Test
  void hasItsTimeFromTheEndOfTheRequestBeforeIt() {
    receives(REQUEST + "GET /");
    readEnds(false);
    loop.advance(ofMinutes(10));
    assertThat(late).isFalse();

    reader.exchangeEnded();
    reader.nextRequest();
    loop.advance(ofMinutes(1));

    assertThat(late).isTrue();
  }

  @Test
  void isCountedWhileItIsIncomplete() {
    receives("GET / HTTP/1.1\r\nHost: " + "x".repeat(1_000));
    readEnds(true);
    assertThat(held.total()).isGreaterThan(1_000);

    receives("\r\n\r\n");

    assertThat(held.total()).isZero();
  }
}
