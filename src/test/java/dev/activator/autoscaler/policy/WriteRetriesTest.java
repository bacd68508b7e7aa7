package dev.activator.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ScaleAnswer.Reason;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WriteRetriesTest {
  private static final long MILLIS = 1_000_000;

  private static List<Long> pauses(int times, Reason reason, boolean waking) {
    var retries = new WriteRetries();
    var pauses = new ArrayList<Long>();
    for (int i = 0; i < times; i++) {
      retries.refused(0, reason, waking);
      pauses.add(retries.pause(0) / MILLIS);
    }
    return pauses;
  }

  @Test
  void aConflictIsReadAgainAtOnceAndAfterFiveLater() {
    assertThat(pauses(6, Reason.CONFLICT, false)).containsExactly(0L, 0L, 0L, 0L, 0L, 2_000L);
  }

  @Test
  void whatSomebodyMustChangeIsTriedEveryHalfMinute() {
    assertThat(pauses(2, Reason.FORBIDDEN, true)).containsExactly(30_000L, 30_000L);
  }

  @Test
  void wakingIsTriedSooner() {
    assertThat(pauses(6, Reason.UNAVAILABLE, true)).containsExactly(100L, 200L, 400L, 800L, 1_600L,
        2_000L);
    assertThat(pauses(6, Reason.UNAVAILABLE, false)).containsExactly(1_000L, 2_000L, 4_000L,
        8_000L, 16_000L, 30_000L);
  }

  @Test
  void aSuccessForgetsAllFailures() {
    var retries = new WriteRetries();
    retries.refused(0, Reason.UNAVAILABLE, false);
    retries.reset();

    assertThat(retries.pause(0)).isZero();
    retries.refused(0, Reason.UNAVAILABLE, false);
    assertThat(retries.pause(0)).isEqualTo(1_000 * MILLIS);
  }
}
