package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WaitLimitsTest {
  /** Empty: no limit, or no pods. */
  @ParameterizedTest(name = "full {0}, start {1}, {2} after arrival, pods for {3}: {4} left, again after {5}")
  @CsvSource({
      // No limit, and one for both.
      "0,  0,  5,   ,   ,   ",
      "20, 0,  5,   , 15, 15",
      "20, 0,  5,  1, 15, 15",
      "20, 0, 25,   , -5, -5",
      // Two limits, without a pod: looked at again as soon as a pod that comes now could be over.
      "20, 60,  5,   , 55, 20",
      "20, 60, 50,   , 10, 10",
      "20, 60, 60,   ,  0,  0",
      // With pods: from the first pod, or from an arrival after it.
      "20, 60, 50,  0, 20, 20",
      "20, 60, 65, 15,  5,  5",
      "20, 60,  5, 90, 15, 15",
      "20, 60, 70, 20,  0,  0",
      // Only the start has a limit.
      "0, 60,  5,   , 55, 55",
      "0, 60, 70, 10,   ,   "})
  void limitsTheWaitForAStartAndForAFreePod(long full, long start, long passed, Long pods,
      Long left, Long untilCheck) {
    var limits = new WaitLimits(Duration.ofNanos(full), Duration.ofNanos(start));
    long since = pods == null ? WaitLimits.NO_PODS : pods;

    assertThat(limits.left(passed, since)).isEqualTo(left == null ? Long.MAX_VALUE : left);
    assertThat(limits.untilCheck(passed, since))
        .isEqualTo(untilCheck == null ? Long.MAX_VALUE : untilCheck);
  }
}
