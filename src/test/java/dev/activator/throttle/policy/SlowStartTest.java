package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SlowStartTest {
  private static final long STEP = 100_000_000;
  /** A clock may be negative. */
  private static final long START = -3 * STEP / 2;

  private static SlowStart of(int window) {
    return SlowStart.of(window, START);
  }

  @Test
  void growsByOneWithEachThatIsServed() {
    assertThat(of(16).served(START + STEP - 1)).isEqualTo(of(17));
    assertThat(of(16).served(START + STEP + 1)).isEqualTo(SlowStart.of(33, START + STEP));
  }

  @Test
  void doublesWithTime() {
    assertThat(of(16).at(START + STEP - 1)).isEqualTo(of(16));
    assertThat(of(16).at(START + STEP)).isEqualTo(SlowStart.of(32, START + STEP));
    assertThat(of(16).at(START + 3 * STEP + 1)).isEqualTo(SlowStart.of(128, START + 3 * STEP));
  }

  @Test
  void saysWhenItDoublesNext() {
    assertThat(of(16).untilNextStep(START)).isEqualTo(STEP);
    assertThat(of(16).untilNextStep(START + 2 * STEP + 10)).isEqualTo(STEP - 10);
  }

  @Test
  void halvesWithWhatRanWhenOneWasBroken() {
    assertThat(of(64).broken(40, START + 1)).isEqualTo(of(20));
    assertThat(of(16).broken(40, START + 1)).isEqualTo(of(8));
    assertThat(of(16).broken(40, START + STEP + 1)).isEqualTo(SlowStart.of(16, START + STEP));
  }

  @Test
  void beginsAgainWhenOneWasBroken() {
    assertThat(SlowStart.OVER.broken(100, START)).isEqualTo(of(50));
  }

  @Test
  void isNeverBelowOne() {
    assertThat(of(1).broken(1, START)).isEqualTo(of(1));
    assertThat(of(16).broken(0, START)).isEqualTo(of(1));
  }

  @Test
  void endsAtItsUpperBound() {
    assertThat(of(1_022).served(START)).isEqualTo(of(1_023));
    assertThat(of(1_023).served(START).isOver()).isTrue();
    assertThat(of(512).at(START + STEP).isOver()).isTrue();
    assertThat(SlowStart.OVER.served(START).isOver()).isTrue();
    assertThat(SlowStart.OVER.at(START).isOver()).isTrue();
  }

  @Test
  void isOverAfterSixStepsOfTimeFromSixteen() {
    assertThat(of(16).at(START + 6 * STEP - 1).isOver()).isFalse();
    assertThat(of(16).at(START + 6 * STEP).isOver()).isTrue();
    assertThat(of(1).at(START + Long.MAX_VALUE / 2).isOver()).isTrue();
  }
}
