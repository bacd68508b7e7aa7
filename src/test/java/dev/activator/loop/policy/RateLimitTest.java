package dev.activator.loop.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RateLimitTest {
  private static final long SECOND = 1_000_000_000;

  /** The clock may begin anywhere, and run over. */
  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - SECOND / 4, Long.MAX_VALUE, Long.MIN_VALUE, -1})
  void letsABurstGo_andThenTheRate(long begin) {
    var rate = RateLimit.withBurst(2, 3, begin);

    assertThat(waits(rate, begin, 6)).containsExactly(0L, 0L, 0L, 500L, 1_000L, 1_500L);
    assertThat(waits(rate, begin + 2 * SECOND, 2)).containsExactly(0L, 500L);
    assertThat(waits(rate, begin + 3_600 * SECOND, 4)).containsExactly(0L, 0L, 0L, 500L);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - SECOND / 4})
  void takesNothing_whenTheWaitWouldBeTooLong(long begin) {
    var rate = RateLimit.withBurst(1, 1, begin);
    assertThat(waits(rate, begin, 1)).containsExactly(0L);

    for (int i = 0; i < 100; i++) {
      assertThat(rate.takeWithin(begin, 999 * SECOND / 1_000)).isNegative();
    }
    assertThat(rate.takeWithin(begin, SECOND)).isEqualTo(SECOND);
  }

  @Test
  void keepsABurstThatIsLongerThanANumberOfNanoseconds() {
    var rate = RateLimit.withBurst(0.2, Integer.MAX_VALUE, 0);
    assertThat(waits(rate, 0, 3)).containsExactly(0L, 0L, 0L);

    var slow = RateLimit.withBurst(1e-300, 2, 0);
    assertThat(slow.takeWithin(0, SECOND)).isZero();
    assertThat(slow.takeWithin(SECOND, SECOND)).isNegative();
  }

  private static List<Long> waits(RateLimit rate, long now, int requests) {
    var waits = new ArrayList<Long>();
    for (int i = 0; i < requests; i++) {
      waits.add(rate.takeWithin(now, 60 * SECOND) / 1_000_000);
    }
    return waits;
  }
}
