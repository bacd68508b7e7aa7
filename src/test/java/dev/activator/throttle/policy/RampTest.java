package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RampTest {
  @Test
  void growsByOneWithEachThatIsServed() {
    assertThat(Ramp.served(16)).isEqualTo(17);
  }

  @Test
  void doublesWithTime() {
    assertThat(Ramp.later(16)).isEqualTo(32);
  }

  @Test
  void halvesWithWhatRanWhenOneWasBroken() {
    assertThat(Ramp.broken(64, 40)).isEqualTo(20);
    assertThat(Ramp.broken(16, 40)).isEqualTo(8);
    assertThat(Ramp.broken(Loads.UNLIMITED, 100)).isEqualTo(50);
  }

  @Test
  void neverEndsAtNothing() {
    assertThat(Ramp.broken(1, 1)).isOne();
    assertThat(Ramp.broken(16, 0)).isOne();
  }

  @Test
  void isOverAtTheTop() {
    assertThat(Ramp.served(1_022)).isEqualTo(1_023);
    assertThat(Ramp.served(1_023)).isEqualTo(Loads.UNLIMITED);
    assertThat(Ramp.later(512)).isEqualTo(Loads.UNLIMITED);
  }

  @Test
  void isOverAfterSixStepsOfTimeFromSixteen() {
    int window = 16;
    int steps = 0;
    while (window != Loads.UNLIMITED) {
      window = Ramp.later(window);
      steps++;
    }
    assertThat(steps).isEqualTo(6);
  }
}
