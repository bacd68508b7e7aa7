package dev.activator.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.policy.RateLimit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectAttemptQueueTest {
  private static final long MILLI = 1_000_000;

  @ParameterizedTest(name = "from {0}")
  @ValueSource(longs = {0, -5_000_000_000L, Long.MAX_VALUE - 20, Long.MIN_VALUE + 20})
  void givesTurnsInTheOrderInWhichTheyAreDue(long now) {
    var turns = new ConnectAttemptQueue<String>(new RateLimit(5_000, now));
    turns.again("third", now + 5 * MILLI);
    turns.again("second", now + 4 * MILLI);
    turns.first("first", now);

    assertThat(turns.untilNextNanos(now)).isZero();
    assertThat(turns.next(now)).isEqualTo("first");
    assertThat(turns.next(now)).isNull();
    assertThat(turns.untilNextNanos(now)).isEqualTo(4 * MILLI);
    assertThat(turns.next(now + 5 * MILLI)).isEqualTo("second");
    assertThat(turns.next(now + 5 * MILLI)).isEqualTo("third");
    assertThat(turns.isEmpty()).isTrue();
  }

  @ParameterizedTest(name = "from {0}")
  @ValueSource(longs = {0, Long.MAX_VALUE - 20})
  void attemptsAtNewAddressesAreNotLimited(long now) {
    // given a rate of one each 10 ms, ten at once
    var turns = new ConnectAttemptQueue<String>(new RateLimit(100, now));
    for (int i = 0; i < 15; i++) {
      turns.again("again", now);
      turns.first("first", now);
    }

    // when all are due
    for (int i = 0; i < 15; i++) {
      assertThat(turns.next(now)).isEqualTo("first");
    }

    // then of those that were tried before ten go, and the others wait until there is room
    for (int i = 0; i < 10; i++) {
      assertThat(turns.next(now)).isEqualTo("again");
    }
    assertThat(turns.next(now)).isNull();
    assertThat(turns.untilNextNanos(now)).isEqualTo(10 * MILLI);
    assertThat(turns.next(now + 10 * MILLI)).isEqualTo("again");
    assertThat(turns.next(now + 10 * MILLI)).isNull();
  }

  @Test
  void loopsShareARate() {
    var rate = new RateLimit(10, 0);
    var one = new ConnectAttemptQueue<String>(rate);
    var other = new ConnectAttemptQueue<String>(rate);
    one.again("one", 0);
    other.again("other", 0);

    assertThat(one.next(0)).isEqualTo("one");
    assertThat(other.next(0)).isNull();
    assertThat(other.next(100 * MILLI)).isEqualTo("other");
  }
}
