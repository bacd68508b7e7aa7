package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StartTimesTest {
  private static final long SECOND = 1_000_000_000L;

  private static StartTimes took(long... seconds) {
    var starts = StartTimes.UNKNOWN;
    for (long each : seconds) {
      starts = starts.asked(0).came(each * SECOND);
    }
    return starts;
  }

  @Test
  void knowsNothingAtFirst() {
    assertThat(StartTimes.UNKNOWN.leastNanosLeft(0)).isZero();
    assertThat(StartTimes.UNKNOWN.usualNanosLeft(0)).isZero();
    assertThat(StartTimes.UNKNOWN.asked(0).leastNanosLeft(SECOND)).isZero();
  }

  @Test
  void takesTheQuickestAsTheLeastAndTheMiddleOneAsUsual() {
    assertThat(took(5, 3, 9).leastNanosLeft(0)).isEqualTo(3 * SECOND);
    assertThat(took(5, 3, 9).usualNanosLeft(0)).isEqualTo(5 * SECOND);
  }

  @Test
  void countsWhatHasPassedOfTheStartUnderWay() {
    var starting = took(5).asked(100 * SECOND);

    assertThat(starting.leastNanosLeft(102 * SECOND)).isEqualTo(3 * SECOND);
    assertThat(starting.leastNanosLeft(107 * SECOND)).isZero();
  }

  @Test
  void countsFromTheFirstWhoAsked() {
    assertThat(StartTimes.UNKNOWN.asked(0).asked(2 * SECOND).came(5 * SECOND).leastNanosLeft(0))
        .isEqualTo(5 * SECOND);
  }

  @Test
  void forgetsTheOldest() {
    assertThat(took(1, 5, 5, 5, 5, 5, 5, 5).leastNanosLeft(0)).isEqualTo(SECOND);
    assertThat(took(1, 5, 5, 5, 5, 5, 5, 5, 5).leastNanosLeft(0)).isEqualTo(5 * SECOND);
  }

  @Test
  void learnsNothingFromAStartNobodyAskedFor() {
    assertThat(StartTimes.UNKNOWN.came(5 * SECOND)).isEqualTo(StartTimes.UNKNOWN);
    assertThat(StartTimes.UNKNOWN.asked(0).ended().came(5 * SECOND))
        .isEqualTo(StartTimes.UNKNOWN);
  }

  @Test
  void learnsNothingFromAStartThatWasGivenUp() {
    assertThat(StartTimes.UNKNOWN.asked(0).came(601 * SECOND)).isEqualTo(StartTimes.UNKNOWN);
    assertThat(StartTimes.UNKNOWN.asked(0).asked(601 * SECOND).came(605 * SECOND)
        .leastNanosLeft(0)).isEqualTo(4 * SECOND);
  }
}
