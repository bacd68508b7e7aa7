package dev.activator.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.Seeds;
import dev.activator.upstream.Dialer.DialBackoff;
import java.time.Duration;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DialBackoffTest {
  private static final RandomGenerator LOWEST = () -> 0;
  /** Rounded: the exact ones are less than a millisecond away. */
  private static final long[] MILLIS = {50, 50, 70, 98, 137, 192, 269, 377, 527, 738, 1033, 1446,
      2025, 2835, 3969, 5556};

  @Test
  void waitsLongerBeforeEachAttempt() {
    var plan = new DialBackoff(LOWEST);

    for (int attempt = 0; attempt < DialBackoff.ATTEMPTS; attempt++) {
      assertThat(plan.untilNext(attempt)).isBetween(Duration.ofMillis(MILLIS[attempt] - 1),
          Duration.ofMillis(MILLIS[attempt] + 1));
    }
  }

  @ParameterizedTest(name = "{0} ns after the handshake")
  @CsvSource({"0,1000000000", "1,999999999", "999999999,1", "1000000000,0", "5000000000,0"})
  void waitsForASecondAfterTheHandshake(long since, long left) {
    assertThat(DialBackoff.graceNanos(since)).isEqualTo(left);
  }

  @Test
  void addsATenthAtMost() {
    Seeds.each(seed -> new DialBackoffTest().addsATenthAtMost(seed));
  }

  private void addsATenthAtMost(long seed) {
    var plan = new DialBackoff(new Random(seed));

    for (int attempt = 0; attempt < DialBackoff.ATTEMPTS; attempt++) {
      assertThat(plan.untilNext(attempt)).isBetween(Duration.ofMillis(MILLIS[attempt] - 1),
          Duration.ofMillis((MILLIS[attempt] + 1) * 11 / 10));
    }
  }
}
