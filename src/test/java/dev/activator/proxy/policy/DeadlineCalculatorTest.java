package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.RequestOutcome;
import dev.activator.revision.RequestTimeouts;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DeadlineCalculatorTest {
  private static final Duration TWO = Duration.ofNanos(2);

  /** Timeouts in nanoseconds. */
  private static RequestTimeouts limits(long overall, long start, long idle) {
    return new RequestTimeouts(Duration.ofNanos(overall), Duration.ofNanos(start),
        Duration.ofNanos(idle));
  }

  @Test
  void endTheWholeWhetherItHasStartedOrNot() {
    var limits = limits(100, 0, 0);

    assertThat(DeadlineCalculator.leftBeforeWrite(limits, 60)).isEqualTo(40);
    assertThat(DeadlineCalculator.leftBeforeWrite(limits, 100)).isZero();
    assertThat(DeadlineCalculator.leftAfterWrite(limits, 60, 60)).isEqualTo(40);
    assertThat(DeadlineCalculator.leftAfterWrite(limits, 101, 1)).isEqualTo(-1);
  }

  @Test
  void countTheStartOnlyUntilTheFirstWrite() {
    var limits = limits(100, 30, 0);

    assertThat(DeadlineCalculator.leftBeforeWrite(limits, 10)).isEqualTo(20);
    assertThat(DeadlineCalculator.leftBeforeWrite(limits, 30)).isZero();
    assertThat(DeadlineCalculator.leftAfterWrite(limits, 30, 1)).isEqualTo(70);
  }

  @Test
  @DisplayName("count idleness from the arrival and from each write")
  void countIdlenessFromTheArrivalAndFromEachWrite() {
    var limits = limits(1_000, 0, 100);

    assertThat(DeadlineCalculator.leftBeforeWrite(limits, 99)).isEqualTo(1);
    assertThat(DeadlineCalculator.leftBeforeWrite(limits, 100)).isZero();
    // Four writes, 99 apart.
    assertThat(DeadlineCalculator.leftAfterWrite(limits, 198, 99)).isEqualTo(1);
    assertThat(DeadlineCalculator.leftAfterWrite(limits, 297, 99)).isEqualTo(1);
    // And then silence.
    assertThat(DeadlineCalculator.leftAfterWrite(limits, 398, 101)).isEqualTo(-1);
  }

  @Test
  void takeTheNearest() {
    assertThat(DeadlineCalculator.leftBeforeWrite(limits(60, 100, 100), 0)).isEqualTo(60);
    assertThat(DeadlineCalculator.leftBeforeWrite(limits(100, 60, 100), 0)).isEqualTo(60);
    assertThat(DeadlineCalculator.leftBeforeWrite(limits(100, 100, 60), 0)).isEqualTo(60);
  }

  @Test
  void sayWhichOfThemIsOver() {
    assertThat(DeadlineCalculator.overBeforeWrite(limits(60, 30, 0), 30))
        .isEqualTo(RequestOutcome.RESPONSE_START_TIMEOUT);
    assertThat(DeadlineCalculator.overBeforeWrite(limits(60, 0, 30), 30))
        .isEqualTo(RequestOutcome.IDLE_TIMEOUT);
    assertThat(DeadlineCalculator.overBeforeWrite(limits(60, 60, 60), 60))
        .isEqualTo(RequestOutcome.REQUEST_TIMEOUT);
    assertThat(DeadlineCalculator.overAfterWrite(limits(60, 10, 30), 59))
        .isEqualTo(RequestOutcome.IDLE_TIMEOUT);
    assertThat(DeadlineCalculator.overAfterWrite(limits(60, 10, 30), 60))
        .isEqualTo(RequestOutcome.REQUEST_TIMEOUT);
  }

  @Test
  void sayWhoseLimitEndedTheTimeInTheQueue() {
    assertThat(DeadlineCalculator.overInQueue(5, 2, false)).isEqualTo(RequestOutcome.QUEUE_TIMEOUT);
    assertThat(DeadlineCalculator.overInQueue(5, 2, true)).isEqualTo(RequestOutcome.START_TIMEOUT);
    assertThat(DeadlineCalculator.overInQueue(5, 5, true))
        .isEqualTo(RequestOutcome.CALLER_DEADLINE);
    assertThat(DeadlineCalculator.overInQueue(1, 1, false))
        .isEqualTo(RequestOutcome.CALLER_DEADLINE);
  }
}
