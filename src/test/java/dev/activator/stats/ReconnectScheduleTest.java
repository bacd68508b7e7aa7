package dev.activator.stats;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReconnectScheduleTest {
  private static final RandomGenerator LOWEST = () -> 0;

  @ParameterizedTest(name = "after {0} failures {1} ms")
  @CsvSource({"0, 0", "1, 100", "2, 130", "3, 169", "4, 220", "5, 286", "6, 371", "7, 483",
      "8, 627", "9, 816", "10, 1060", "11, 1379", "12, 1792", "13, 2330", "14, 3029", "15, 3937",
      "16, 5119", "17, 6654", "18, 8650", "19, 11246", "20, 100", "21, 100", "22, 130",
      "40, 100"})
  void pausesGrowAndStartOverAfterTwentyAttempts(int failures, long expectedMillis) {
    var backoff = AutoscalerLink.backoff(LOWEST);
    var pause = AutoscalerLink.pause(0, backoff);
    for (int i = 1; i <= failures; i++) {
      pause = AutoscalerLink.pause(i, backoff);
    }

    assertThat(Math.round(pause.toNanos() / 1e6)).isEqualTo(expectedMillis);
  }

  @Test
  void aPauseIsDrawnOutByUpToAHalf() {
    var backoff = AutoscalerLink.backoff(new Random(1));
    for (int i = 0; i < 1_000; i++) {
      assertThat(AutoscalerLink.pause(1, backoff)).isBetween(Duration.ofMillis(100),
          Duration.ofMillis(150));
    }
  }
}
