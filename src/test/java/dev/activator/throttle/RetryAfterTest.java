package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryAfterTest {
  @ParameterizedTest(name = "{0} wait, {1} a second run, jitter {2}: {3} s")
  @CsvSource({"1000, 100, 0, 10", "1000, 100, 0.5, 13", "1000, 100, 0.999, 15", "1, 1000, 0, 1",
      "1, 1000, 0.999, 2", "10000, 1, 0, 60", "10000, 1, 0.999, 90", "1000, 99, 0, 11"})
  void isTheTimeInWhichThoseWhoWaitWillHaveRun(int waiting, double perSecond, double jitter,
      int seconds) {
    assertThat(WaitEstimator.retryAfterSeconds(waiting / perSecond, jitter)).isEqualTo(seconds);
  }

  @ParameterizedTest(name = "{0} ms left, jitter {1}: {2} s")
  @CsvSource({"0, 0, 1", "0, 0.999, 2", "2500, 0, 3", "2500, 0.999, 5", "600000, 0, 60"})
  void isTheTimeInWhichTheRevisionWillHaveStarted(long millisLeft, double jitter, int seconds) {
    assertThat(WaitEstimator.retryAfterSeconds(millisLeft / 1e3, jitter)).isEqualTo(seconds);
  }
}
