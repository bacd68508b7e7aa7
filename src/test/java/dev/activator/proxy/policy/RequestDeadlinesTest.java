package dev.activator.proxy.policy;

import static dev.activator.proxy.policy.RequestDeadlines.NONE;
import static java.time.Duration.ZERO;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RequestTimeouts;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RequestDeadlinesTest {
  private static final Duration TWO = Duration.ofNanos(2);

  /** Timeouts in nanoseconds. */
  private static RequestTimeouts limits(long overall, long start, long idle) {
    return new RequestTimeouts(Duration.ofNanos(overall), Duration.ofNanos(start),
        Duration.ofNanos(idle));
  }

  @Test
  void endTheWholeWhetherItHasStartedOrNot() {
    var limits = limits(100, 0, 0);

    assertThat(RequestDeadlines.leftBeforeWrite(limits, 60)).isEqualTo(40);
    assertThat(RequestDeadlines.leftBeforeWrite(limits, 100)).isZero();
    assertThat(RequestDeadlines.leftAfterWrite(limits, 60, 60)).isEqualTo(40);
    assertThat(RequestDeadlines.leftAfterWrite(limits, 101, 1)).isEqualTo(-1);
  }

  @Test
  void countTheStartOnlyUntilTheFirstWrite() {
    var limits = limits(100, 30, 0);

    assertThat(RequestDeadlines.leftBeforeWrite(limits, 10)).isEqualTo(20);
    assertThat(RequestDeadlines.leftBeforeWrite(limits, 30)).isZero();
    assertThat(RequestDeadlines.leftAfterWrite(limits, 30, 1)).isEqualTo(70);
  }

  @Test
  @DisplayName("TO-18 TO-19 TO-25 TO-26 count idleness from the arrival and from each write")
  void countIdlenessFromTheArrivalAndFromEachWrite() {
    var limits = limits(1_000, 0, 100);

    assertThat(RequestDeadlines.leftBeforeWrite(limits, 99)).isEqualTo(1);
    assertThat(RequestDeadlines.leftBeforeWrite(limits, 100)).isZero();
    // Four writes, 99 apart.
    assertThat(RequestDeadlines.leftAfterWrite(limits, 198, 99)).isEqualTo(1);
    assertThat(RequestDeadlines.leftAfterWrite(limits, 297, 99)).isEqualTo(1);
    // And then silence.
    assertThat(RequestDeadlines.leftAfterWrite(limits, 398, 101)).isEqualTo(-1);
  }

  @Test
  void takeTheNearest() {
    assertThat(RequestDeadlines.leftBeforeWrite(limits(60, 100, 100), 0)).isEqualTo(60);
    assertThat(RequestDeadlines.leftBeforeWrite(limits(100, 60, 100), 0)).isEqualTo(60);
    assertThat(RequestDeadlines.leftBeforeWrite(limits(100, 100, 60), 0)).isEqualTo(60);
  }

  @Test
  void sayWhichOfThemIsOver() {
    assertThat(RequestDeadlines.overBeforeWrite(limits(60, 30, 0), 30))
        .isEqualTo(TimeoutKind.RESPONSE_START);
    assertThat(RequestDeadlines.overBeforeWrite(limits(60, 0, 30), 30)).isEqualTo(TimeoutKind.IDLE);
    assertThat(RequestDeadlines.overBeforeWrite(limits(60, 60, 60), 60))
        .isEqualTo(TimeoutKind.OVERALL);
    assertThat(RequestDeadlines.overAfterWrite(limits(60, 10, 30), 59)).isEqualTo(TimeoutKind.IDLE);
    assertThat(RequestDeadlines.overAfterWrite(limits(60, 10, 30), 60))
        .isEqualTo(TimeoutKind.OVERALL);
  }

  @Test
  void endTheTimeInTheQueueWithTheFirstOfTwoLimits() {
    assertThat(RequestDeadlines.inQueue(ZERO, NONE)).isEqualTo(NONE);
    assertThat(RequestDeadlines.inQueue(TWO, NONE)).isEqualTo(2);
    assertThat(RequestDeadlines.inQueue(ZERO, 5)).isEqualTo(5);
    assertThat(RequestDeadlines.inQueue(TWO, 5)).isEqualTo(2);
    assertThat(RequestDeadlines.inQueue(TWO, 1)).isEqualTo(1);
  }

  @Test
  void sayWhoseLimitEndedTheTimeInTheQueue() {
    assertThat(RequestDeadlines.overInQueue(5, 2)).isEqualTo(TimeoutKind.QUEUE);
    assertThat(RequestDeadlines.overInQueue(5, 5)).isEqualTo(TimeoutKind.CALLER);
    assertThat(RequestDeadlines.overInQueue(1, 1)).isEqualTo(TimeoutKind.CALLER);
  }
}
