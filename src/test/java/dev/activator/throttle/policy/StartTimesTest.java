package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StartTimesTest {
  private static final long SECOND = 1_000_000_000L;

  private static StartTimes took(long... seconds) {
    var starts = StartTimes.UNKNOWN;
    for (long each : seconds) {
      starts = starts.awaited(0).came(each * SECOND);
    }
    return starts;
  }

  @Test
  void knowsNothingAtFirst() {
    assertThat(StartTimes.UNKNOWN.leastNanosLeft(0)).isZero();
    assertThat(StartTimes.UNKNOWN.usualNanosLeft(0)).isZero();
    assertThat(StartTimes.UNKNOWN.awaited(0).leastNanosLeft(SECOND)).isZero();
  }

  @Test
  void takesTheQuickestAsTheLeastAndTheMiddleOneAsUsual() {
    assertThat(took(5, 3, 9).leastNanosLeft(0)).isEqualTo(3 * SECOND);
    assertThat(took(5, 3, 9).usualNanosLeft(0)).isEqualTo(5 * SECOND);
  }

  @Test
  void countsWhatHasPassedOfTheStartUnderWay() {
    var starting = took(5).awaited(100 * SECOND);

    assertThat(starting.leastNanosLeft(102 * SECOND)).isEqualTo(3 * SECOND);
    assertThat(starting.leastNanosLeft(107 * SECOND)).isZero();
  }

  @Test
  void countsFromTheFirstWhoAsked() {
    assertThat(StartTimes.UNKNOWN.awaited(0).awaited(2 * SECOND).came(5 * SECOND).leastNanosLeft(0))
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
    assertThat(StartTimes.UNKNOWN.awaited(0).ended().came(5 * SECOND))
        .isEqualTo(StartTimes.UNKNOWN);
  }

  @Test
  void learnsNothingFromAStartThatWasGivenUp() {
    assertThat(StartTimes.UNKNOWN.awaited(0).came(600 * SECOND)).isEqualTo(StartTimes.UNKNOWN);
    assertThat(StartTimes.UNKNOWN.awaited(0).came(600 * SECOND - 1).usualNanos())
        .isEqualTo(600 * SECOND - 1);
    assertThat(StartTimes.UNKNOWN.awaited(0).awaited(601 * SECOND).came(605 * SECOND)
        .leastNanosLeft(0)).isEqualTo(4 * SECOND);
  }

  @Test
  void countsWhatARefusedRequestAskedForAsLongAsAStartUsuallyTakes() {
    var starts = took(5, 3, 9).refused(100 * SECOND);

    assertThat(starts.isAwaited()).isFalse();
    assertThat(starts.leastNanosLeft(102 * SECOND)).isEqualTo(SECOND);
    assertThat(starts.usualNanosLeft(105 * SECOND)).isZero();
    assertThat(starts.usualNanosLeft(106 * SECOND)).isEqualTo(5 * SECOND);
    assertThat(starts.refused(102 * SECOND)).isEqualTo(starts);
    assertThat(starts.refused(106 * SECOND).sinceNanos()).isEqualTo(106 * SECOND);
  }

  @Test
  void learnsOfAStartThatOnlyRefusedRequestsAskedForIfItWasNoSlowerThanUsual() {
    var usual = took(5, 5, 5);

    assertThat(usual.refused(0).came(2 * SECOND).leastNanosLeft(0)).isEqualTo(2 * SECOND);
    assertThat(usual.refused(0).came(6 * SECOND)).isEqualTo(usual);
  }

  @Test
  void countsFromTheRefusedRequestWhereOneThatWaitsFollowsSoon() {
    var soon = took(5).refused(0).awaited(4 * SECOND);
    assertThat(soon.isAwaited()).isTrue();
    assertThat(soon.came(7 * SECOND).recentNanos()).containsExactly(5 * SECOND, 7 * SECOND);

    // what was asked for so long ago was not heard
    var late = took(5).refused(0).awaited(60 * SECOND);
    assertThat(late.came(64 * SECOND).recentNanos()).containsExactly(5 * SECOND, 4 * SECOND);
  }
}
