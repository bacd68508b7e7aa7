package dev.activator.proxy.policy.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RequestTimeouts;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DeadlinesTest {
  private static final long ARRIVED = Long.MAX_VALUE - 5;

  /** Timeouts in nanoseconds, for a request that arrived just before the clock wraps. */
  private static Deadlines deadlines(long overall, long start, long idle) {
    return Deadlines.of(new RequestTimeouts(Duration.ofNanos(overall), Duration.ofNanos(start),
        Duration.ofNanos(idle)), ARRIVED);
  }

  @Test
  void endTheWholeWhetherItHasStartedOrNot() {
    var deadlines = deadlines(100, 0, 0);

    assertThat(deadlines.leftBeforeStart(ARRIVED + 60)).isEqualTo(40);
    assertThat(deadlines.leftBeforeStart(ARRIVED + 100)).isZero();
    assertThat(deadlines.leftAfterWrite(ARRIVED + 60, 0)).isEqualTo(40);
    assertThat(deadlines.leftAfterWrite(ARRIVED + 101, ARRIVED + 100)).isEqualTo(-1);
  }

  @Test
  void countTheStartOnlyUntilTheFirstWrite() {
    var deadlines = deadlines(100, 30, 0);

    assertThat(deadlines.leftBeforeStart(ARRIVED + 10)).isEqualTo(20);
    assertThat(deadlines.leftBeforeStart(ARRIVED + 30)).isZero();
    assertThat(deadlines.leftAfterWrite(ARRIVED + 30, ARRIVED + 29)).isEqualTo(70);
  }

  @Test
  @DisplayName("TO-18 TO-19 TO-25 TO-26 count idleness from the arrival and from each write")
  void countIdlenessFromTheArrivalAndFromEachWrite() {
    var deadlines = deadlines(1_000, 0, 100);

    assertThat(deadlines.leftBeforeStart(ARRIVED + 99)).isEqualTo(1);
    assertThat(deadlines.leftBeforeStart(ARRIVED + 100)).isZero();
    // Four writes, 99 apart.
    assertThat(deadlines.leftAfterWrite(ARRIVED + 198, ARRIVED + 99)).isEqualTo(1);
    assertThat(deadlines.leftAfterWrite(ARRIVED + 297, ARRIVED + 198)).isEqualTo(1);
    // And then silence.
    assertThat(deadlines.leftAfterWrite(ARRIVED + 398, ARRIVED + 297)).isEqualTo(-1);
  }

  @Test
  void takeTheNearest() {
    assertThat(deadlines(60, 100, 100).leftBeforeStart(ARRIVED)).isEqualTo(60);
    assertThat(deadlines(100, 60, 100).leftBeforeStart(ARRIVED)).isEqualTo(60);
    assertThat(deadlines(100, 100, 60).leftBeforeStart(ARRIVED)).isEqualTo(60);
  }

  @Test
  void followWritesOnlyForIdleness() {
    assertThat(deadlines(1, 1, 0).followWrites()).isFalse();
    assertThat(deadlines(1, 1, 1).followWrites()).isTrue();
  }

  @Test
  void sayWhichOfThemIsOver() {
    assertThat(deadlines(60, 30, 0).overBeforeStart(ARRIVED + 30)).isEqualTo(Budget.RESPONSE_START);
    assertThat(deadlines(60, 0, 30).overBeforeStart(ARRIVED + 30)).isEqualTo(Budget.IDLE);
    assertThat(deadlines(60, 60, 60).overBeforeStart(ARRIVED + 60)).isEqualTo(Budget.OVERALL);
    assertThat(deadlines(60, 10, 30).overAfterWrite(ARRIVED + 59)).isEqualTo(Budget.IDLE);
    assertThat(deadlines(60, 10, 30).overAfterWrite(ARRIVED + 60)).isEqualTo(Budget.OVERALL);
  }
}
