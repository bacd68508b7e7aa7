package dev.activator.backend.policy;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class DurationEstimateTest {
  @Test
  void knowsLittleAfterTheFirst() {
    var first = DurationEstimate.after(null, ofMillis(800));

    assertThat(first).isEqualTo(new DurationEstimate(ofMillis(800), ofMillis(400)));
    assertThat(first.earliest()).isEqualTo(Duration.ZERO);
    assertThat(first.latest()).isEqualTo(ofMillis(2400));
  }

  @Test
  void countsNewOnesMore() {
    // when one takes 1,600 after one of 800: an eighth of the way, and a quarter of the miss
    var second = DurationEstimate.after(new DurationEstimate(ofMillis(800), ofMillis(400)),
        ofMillis(1600));

    assertThat(second).isEqualTo(new DurationEstimate(ofMillis(900), ofMillis(500)));
  }

  @Test
  void hasASmallDeviationAfterManyEqualSamples() {
    DurationEstimate estimate = null;
    for (int i = 0; i < 20; i++) {
      estimate = DurationEstimate.after(estimate, ofMillis(1000));
    }

    // half of 1,000 shrunk 19 times to three quarters is 2.1 ms
    assertThat(estimate.mean()).isEqualTo(ofMillis(1000));
    assertThat(estimate.earliest()).isBetween(ofMillis(991), ofMillis(992));
  }
}
