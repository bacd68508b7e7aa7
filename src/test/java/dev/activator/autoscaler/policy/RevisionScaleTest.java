package dev.activator.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RevisionScaleTest {
  private static final ScalingLimits TEN_EACH = new ScalingLimits(10, 0, 10);

  @Test
  void theFirstRequestOfARevisionAtZeroBringsAPod() {
    var scale = RevisionScale.AT_ZERO.sampled(0, new Sample("a", 1, 1), TEN_EACH);

    assertThat(scale.pods()).isEqualTo(1);
  }

  @Test
  void aReportOfNothingBringsNone() {
    var scale = RevisionScale.AT_ZERO.sampled(0, new Sample("a", 0, 0), TEN_EACH);

    assertThat(scale.pods()).isZero();
  }

  @Test
  void aBurstScalesUpAtOnce() {
    var scale = RevisionScale.AT_ZERO.sampled(0, new Sample("a", 1, 1), TEN_EACH)
        .sampled(1, new Sample("a", 41, 41), TEN_EACH);

    // 41 requests, ten each
    assertThat(scale.pods()).isEqualTo(5);
  }

  @Test
  void theFirstReportAndTheRegularOneOfTheSameSecondAddUp() {
    // given a first request, and nine more in the same second: the regular report leaves out one
    var scale = RevisionScale.AT_ZERO.sampled(0, new Sample("a", 1, 1), TEN_EACH)
        .sampled(0, new Sample("a", 9.5, 9), TEN_EACH);

    assertThat(scale.pods()).isEqualTo(2);
  }

  @Test
  void twoRegularReportsInOneSecondAreOneThatCameLate() {
    // given a steady load of 10, whose report slips across the border of a second
    var scale = RevisionScale.AT_ZERO.sampled(3, new Sample("a", 10, 50), TEN_EACH)
        .sampled(5, new Sample("a", 10, 50), TEN_EACH)
        .sampled(5, new Sample("a", 10, 50), TEN_EACH);

    assertThat(scale.pods()).isEqualTo(1);
  }

  @Test
  void reportersAddUp() {
    var scale = RevisionScale.AT_ZERO.sampled(3, new Sample("a", 10, 50), TEN_EACH)
        .sampled(3, new Sample("b", 10, 50), TEN_EACH)
        .sampled(3, new Sample("c", 5, 50), TEN_EACH);

    assertThat(scale.pods()).isEqualTo(3);
  }

  @Test
  void neverPassesItsLimits() {
    var limits = new ScalingLimits(1, 2, 4);

    assertThat(RevisionScale.AT_ZERO.ticked(0, limits).pods()).isEqualTo(2);
    assertThat(RevisionScale.AT_ZERO.sampled(0, new Sample("a", 1000, 1000), limits).pods())
        .isEqualTo(4);
    assertThat(RevisionScale.AT_ZERO.sampled(0, new Sample("a", 1, 1), limits).pods()).isEqualTo(2);
  }

  @Test
  void goesDownNoFasterThanTheHighestOfTheLastSecondsAskedFor() {
    // given 40 requests in second 0, and 1 in each second after
    var scale = RevisionScale.AT_ZERO.sampled(0, new Sample("a", 40, 40), TEN_EACH);
    var pods = new ArrayList<Integer>();
    for (long second = 1; second <= 9; second++) {
      scale = scale.ticked(second, TEN_EACH).sampled(second, new Sample("a", 1, 1), TEN_EACH);
      pods.add(scale.pods());
    }

    // then tick 1 still sees 40 as its latest second, and is remembered until tick 6
    assertThat(pods).isEqualTo(List.of(4, 4, 4, 4, 4, 4, 1, 1, 1));
  }

  @Test
  void theLastPodGoesWhenTheWindowIsAllZeroAndTheGraceIsOver() {
    // given the last request in second 0
    var scale = RevisionScale.AT_ZERO.sampled(0, new Sample("a", 1, 1), TEN_EACH);
    var pods = new ArrayList<Integer>();
    for (long second = 1; second <= 9; second++) {
      scale = scale.ticked(second, TEN_EACH);
      pods.add(scale.pods());
    }

    // then seconds 0 to 6 still see it, second 7 is the first idle one, and second 8 ends the grace
    assertThat(pods).isEqualTo(List.of(1, 1, 1, 1, 1, 1, 1, 0, 0));
  }

  @Test
  void aRequestInTheGraceKeepsThePod() {
    var scale = RevisionScale.AT_ZERO.sampled(0, new Sample("a", 1, 1), TEN_EACH);
    for (long second = 1; second <= 7; second++) {
      scale = scale.ticked(second, TEN_EACH);
    }

    scale = scale.sampled(7, new Sample("a", 1, 1), TEN_EACH).ticked(8, TEN_EACH);

    assertThat(scale.pods()).isEqualTo(1);
  }

  @Test
  void theGraceBeginsWhenAPodMoreThanTheLeastIsIdle() {
    // given a revision that has had its one pod, idle, for two seconds
    var onePod = new ScalingLimits(10, 1, 10);
    var scale = RevisionScale.AT_ZERO.ticked(0, onePod).ticked(1, onePod);

    // when it needs none any more
    scale = scale.ticked(2, TEN_EACH);

    assertThat(scale.pods()).isEqualTo(1);
    assertThat(scale.ticked(3, TEN_EACH).pods()).isZero();
  }
}
