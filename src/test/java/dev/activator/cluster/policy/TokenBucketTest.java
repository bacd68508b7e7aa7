package dev.activator.cluster.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenBucketTest {
  private static final long SECOND = 1_000_000_000;

  /** The clock may begin anywhere, and run over. */
  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - SECOND / 4, Long.MAX_VALUE, Long.MIN_VALUE, -1})
  void letsABurstGo_andThenSoManyASecond(long begin) {
    var bucket = new TokenBucket(2, 3, begin);

    assertThat(waits(bucket, begin, 6)).containsExactly(0L, 0L, 0L, 500L, 1_000L, 1_500L);
    assertThat(waits(bucket, begin + 2 * SECOND, 2)).containsExactly(0L, 500L);
    assertThat(waits(bucket, begin + 3_600 * SECOND, 4)).containsExactly(0L, 0L, 0L, 500L);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - SECOND / 4})
  void takesNoToken_ifTheWaitWouldBeTooLong(long begin) {
    var bucket = new TokenBucket(1, 1, begin);
    assertThat(waits(bucket, begin, 1)).containsExactly(0L);

    for (int i = 0; i < 100; i++) {
      assertThat(bucket.take(begin, Duration.ofMillis(999))).isNegative();
    }
    assertThat(bucket.take(begin, Duration.ofSeconds(1))).isEqualTo(Duration.ofSeconds(1));
  }

  private static List<Long> waits(TokenBucket bucket, long now, int requests) {
    var waits = new ArrayList<Long>();
    for (int i = 0; i < requests; i++) {
      waits.add(bucket.take(now, Duration.ofMinutes(1)).toMillis());
    }
    return waits;
  }
}
