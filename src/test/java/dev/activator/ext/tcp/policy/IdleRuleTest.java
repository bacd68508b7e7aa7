package dev.activator.ext.tcp.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class IdleRuleTest {
  private static final String AFTER = "activator.dev/tcp-idle-after-seconds";

  @Test
  void readsTheFieldsOfThePort() {
    assertThat(IdleRule.of(Map.of())).isEqualTo(IdleRule.NONE);
    assertThat(IdleRule.of(Map.of(AFTER, "300")))
        .isEqualTo(new IdleRule(Duration.ofMinutes(5), false));
    assertThat(IdleRule.of(Map.of(AFTER, "300", "activator.dev/tcp-close-idle", "true")))
        .isEqualTo(new IdleRule(Duration.ofMinutes(5), true));
    assertThat(IdleRule.NONE.applies()).isFalse();
  }

  @Test
  void aConnectionIsIdleOnceNothingIsLeft() {
    var rule = new IdleRule(Duration.ofNanos(100), false);

    assertThat(rule.left(99)).isEqualTo(1);
    assertThat(rule.left(100)).isZero();
  }
}
