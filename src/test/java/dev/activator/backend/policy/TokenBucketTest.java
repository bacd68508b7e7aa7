package dev.activator.backend.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenBucketTest {
  private static final long MILLI = 1_000_000;

  @ParameterizedTest(name = "from {0}")
  @ValueSource(longs = {0, -5_000_000_000L, Long.MAX_VALUE - 20, Long.MIN_VALUE + 20})
  void allowsATenthOfASecondsWorthAtOnceWhereverTimeBegins(long now) {
    var bucket = new TokenBucket(100, now);
    for (int i = 0; i < 10; i++) {
      assertThat(bucket.untilNext(now)).isZero();
      bucket = bucket.less(now);
    }

    assertThat(bucket.untilNext(now)).isEqualTo(Duration.ofMillis(10));
    assertThat(bucket.untilNext(now + 4 * MILLI)).isEqualTo(Duration.ofMillis(6));
    assertThat(bucket.untilNext(now + 10 * MILLI)).isZero();
    assertThat(bucket.more().untilNext(now)).isZero();
  }

  @Test
  void allowsOneAtATimeWhereFewAreAllowed() {
    var bucket = new TokenBucket(2, 0);

    assertThat(bucket.untilNext(0)).isZero();
    assertThat(bucket.less(0).untilNext(0)).isEqualTo(Duration.ofMillis(500));
  }

  @Test
  void refusesARateThatAllowsNothing() {
    assertThatThrownBy(() -> new TokenBucket(0, 0)).hasMessageContaining("0 a second");
  }
}
