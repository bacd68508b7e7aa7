package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SlowStartTest {
  @Test
  void growsByOneWithEachThatIsServed() {
    assertThat(SlowStart.served(16)).isEqualTo(17);
  }

  @Test
  void doublesWithTime() {
    assertThat(SlowStart.afterStep(16)).isEqualTo(32);
  }

  @Test
  void halvesWithWhatRanWhenOneWasBroken() {
    assertThat(SlowStart.broken(64, 40)).isEqualTo(20);
    assertThat(SlowStart.broken(16, 40)).isEqualTo(8);
    assertThat(SlowStart.broken(Subset.UNLIMITED, 100)).isEqualTo(50);
  }

  @Test
  void isNeverBelowOne() {
    assertThat(SlowStart.broken(1, 1)).isOne();
    assertThat(SlowStart.broken(16, 0)).isOne();
  }

  @Test
  void endsAtItsUpperBound() {
    assertThat(SlowStart.served(1_022)).isEqualTo(1_023);
    assertThat(SlowStart.served(1_023)).isEqualTo(Subset.UNLIMITED);
    assertThat(SlowStart.afterStep(512)).isEqualTo(Subset.UNLIMITED);
  }

  @Test
  void isOverAfterSixStepsOfTimeFromSixteen() {
    int window = 16;
    int steps = 0;
    while (window != Subset.UNLIMITED) {
      window = SlowStart.afterStep(window);
      steps++;
    }
    assertThat(steps).isEqualTo(6);
  }
}
