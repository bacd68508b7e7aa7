package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RecentStartDurationsTest {
  private static final long SECOND = 1_000_000_000L;

  private static RecentStartDurations took(long... seconds) {
    var starts = RecentStartDurations.UNKNOWN;
    for (long each : seconds) {
      starts = starts.awaited(0).started(each * SECOND);
    }
    return starts;
  }

  @Test
  void knowsNothingAtFirst() {
    assertThat(RecentStartDurations.UNKNOWN.quickestRemainingNanos(0)).isZero();
    assertThat(RecentStartDurations.UNKNOWN.usualRemainingNanos(0)).isZero();
    assertThat(RecentStartDurations.UNKNOWN.awaited(0).quickestRemainingNanos(SECOND)).isZero();
  }

  @Test
  void takesTheQuickestAsTheLeastAndTheMiddleOneAsUsual() {
    assertThat(took(5, 3, 9).quickestRemainingNanos(0)).isEqualTo(3 * SECOND);
    assertThat(took(5, 3, 9).usualRemainingNanos(0)).isEqualTo(5 * SECOND);
  }

  @Test
  void countsWhatHasPassedOfTheStartUnderWay() {
    var starting = took(5).awaited(100 * SECOND);

    assertThat(starting.quickestRemainingNanos(102 * SECOND)).isEqualTo(3 * SECOND);
    assertThat(starting.quickestRemainingNanos(107 * SECOND)).isZero();
  }

  @Test
  void countsFromTheFirstRequest() {
    assertThat(RecentStartDurations.UNKNOWN.awaited(0).awaited(2 * SECOND).started(5 * SECOND)
        .quickestRemainingNanos(0))
        .isEqualTo(5 * SECOND);
  }

  @Test
  void forgetsTheOldest() {
    assertThat(took(1, 5, 5, 5, 5, 5, 5, 5).quickestRemainingNanos(0)).isEqualTo(SECOND);
    assertThat(took(1, 5, 5, 5, 5, 5, 5, 5, 5).quickestRemainingNanos(0)).isEqualTo(5 * SECOND);
  }

  @Test
  void doesNotMeasureAStartWithoutARequest() {
    assertThat(RecentStartDurations.UNKNOWN.started(5 * SECOND))
        .isEqualTo(RecentStartDurations.UNKNOWN);
    assertThat(RecentStartDurations.UNKNOWN.awaited(0).ended().started(5 * SECOND))
        .isEqualTo(RecentStartDurations.UNKNOWN);
  }

  @Test
  void doesNotMeasureAStartThatWasGivenUp() {
    assertThat(RecentStartDurations.UNKNOWN.awaited(0).started(600 * SECOND))
        .isEqualTo(RecentStartDurations.UNKNOWN);
    assertThat(RecentStartDurations.UNKNOWN.awaited(0).started(600 * SECOND - 1).usualNanos())
        .isEqualTo(600 * SECOND - 1);
    assertThat(RecentStartDurations.UNKNOWN.awaited(0).awaited(601 * SECOND).started(605 * SECOND)
        .quickestRemainingNanos(0)).isEqualTo(4 * SECOND);
  }

  @Test
  void aStartForARefusedRequestCountsForTheUsualTime() {
    var starts = took(5, 3, 9).refused(100 * SECOND);

    assertThat(starts.isAwaited()).isFalse();
    assertThat(starts.quickestRemainingNanos(102 * SECOND)).isEqualTo(SECOND);
    assertThat(starts.usualRemainingNanos(105 * SECOND)).isZero();
    assertThat(starts.usualRemainingNanos(106 * SECOND)).isEqualTo(5 * SECOND);
    assertThat(starts.refused(102 * SECOND)).isEqualTo(starts);
    assertThat(starts.refused(106 * SECOND).sinceNanos()).isEqualTo(106 * SECOND);
  }

  @Test
  void measuresAStartForRefusedRequestsIfItWasNoSlowerThanUsual() {
    var usual = took(5, 5, 5);

    assertThat(usual.refused(0).started(2 * SECOND).quickestRemainingNanos(0))
        .isEqualTo(2 * SECOND);
    assertThat(usual.refused(0).started(6 * SECOND)).isEqualTo(usual);
  }

  @Test
  void countsFromTheRefusedRequestIfAQueuedOneFollowsSoon() {
    var soon = took(5).refused(0).awaited(4 * SECOND);
    assertThat(soon.isAwaited()).isTrue();
    assertThat(soon.started(7 * SECOND).recentNanos()).containsExactly(5 * SECOND, 7 * SECOND);

    // what was asked for so long ago was not heard
    var late = took(5).refused(0).awaited(60 * SECOND);
    assertThat(late.started(64 * SECOND).recentNanos()).containsExactly(5 * SECOND, 4 * SECOND);
  }
}
