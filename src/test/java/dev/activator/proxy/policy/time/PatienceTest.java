package dev.activator.proxy.policy.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class PatienceTest {
  private static final Duration TWO = Duration.ofNanos(2);

  @Test
  void hasNoEndWhereNobodySaysSo() {
    var endless = Patience.of(Duration.ZERO, CallerTimeout.NONE);

    assertThat(endless.ends()).isFalse();
    assertThat(endless.over(Long.MAX_VALUE - 1)).isNull();
  }

  @Test
  void endsWithTheFirstOfTheLimits() {
    assertThat(Patience.of(TWO, 5).nanosLeft(1)).isEqualTo(1);
    assertThat(Patience.of(TWO, 1).nanosLeft(3)).isEqualTo(-2);
    assertThat(Patience.of(TWO, CallerTimeout.NONE).ends()).isTrue();
    assertThat(Patience.of(Duration.ZERO, 5).ends()).isTrue();
  }

  @Test
  void saysWhichLimitIsOver() {
    var patience = Patience.of(TWO, 5);

    assertThat(patience.over(1)).isNull();
    assertThat(patience.over(2)).isEqualTo(Budget.QUEUE);
    assertThat(patience.over(5)).isEqualTo(Budget.CALLER);
    assertThat(Patience.of(TWO, 1).over(1)).isEqualTo(Budget.CALLER);
  }
}
