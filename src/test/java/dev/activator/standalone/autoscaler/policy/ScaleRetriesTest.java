package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScaleRetriesTest {
  private static final long MILLIS = 1_000_000;

  private final ScaleRetries retries = new ScaleRetries(new Random(1));

  private static Refused refused(Reason reason) {
    return new Refused(reason, "refused");
  }

  @ParameterizedTest(name = "{0}, needed {1}, after {2} others: {3} to {4} ms")
  @CsvSource({"CONFLICT, false, 4, 0, 0", "CONFLICT, false, 5, 2000, 2000",
      "CONFLICT, false, 1000, 2000, 2000", "UNAVAILABLE, false, 0, 1000, 1200",
      "UNAVAILABLE, false, 4, 16000, 19200", "UNAVAILABLE, false, 1000, 30000, 36000",
      "UNAVAILABLE, true, 0, 100, 125", "UNAVAILABLE, true, 1000, 800, 1000",
      "NOT_FOUND, true, 1000, 800, 1000", "NOT_FOUND, false, 0, 5000, 6000",
      "FORBIDDEN, false, 0, 5000, 6000", "FORBIDDEN, false, 3, 40000, 48000",
      "INVALID, false, 1000, 300000, 360000", "NOT_SCALABLE, false, 1000, 300000, 360000",
      "FORBIDDEN, true, 0, 1000, 1200", "FORBIDDEN, true, 1000, 30000, 36000"})
  void pausesGrowByReasonAndNeed(Reason reason, boolean needed, int others, long least, long most) {
    for (int i = 0; i < others; i++) {
      retries.refusedWrite(0, refused(reason), needed);
    }
    retries.refusedWrite(0, refused(reason), needed);

    assertThat(retries.pause(0, needed)).isBetween(least * MILLIS, most * MILLIS);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void needThatArisesEndsAPauseWithinASecond(boolean write) {
    for (int i = 0; i < 10; i++) {
      if (write) {
        retries.refusedWrite(0, refused(Reason.FORBIDDEN), false);
      } else {
        retries.refusedRead(0, refused(Reason.FORBIDDEN), false);
      }
    }
    assertThat(retries.pause(0, false)).isGreaterThanOrEqualTo(300_000 * MILLIS);
    assertThat(retries.pause(7, true)).isEqualTo(1_000 * MILLIS);
    assertThat(retries.pause(7, true)).isEqualTo(1_000 * MILLIS);
    assertThat(retries.pause(7 + 1_000 * MILLIS, true)).isZero();
  }

  @Test
  void retryAfterCounts_evenIfPodsAreNeeded() {
    retries.refusedRead(0, new Refused(Reason.UNAVAILABLE, "busy", Duration.ofSeconds(4)), false);

    assertThat(retries.pause(0, true)).isBetween(4_000 * MILLIS, 6_000 * MILLIS);
  }

  @Test
  void aSuccessfulReadForgetsRefusedReadsOnly() {
    for (int i = 0; i < 10; i++) {
      retries.refusedRead(0, refused(Reason.UNAVAILABLE), false);
      retries.refusedWrite(0, refused(Reason.UNAVAILABLE), false);
    }
    retries.read();

    retries.refusedRead(0, refused(Reason.UNAVAILABLE), false);
    assertThat(retries.pause(0, false)).isLessThanOrEqualTo(1_200 * MILLIS);
    retries.refusedWrite(0, refused(Reason.UNAVAILABLE), false);
    assertThat(retries.pause(0, false)).isGreaterThanOrEqualTo(30_000 * MILLIS);
    assertThat(retries.isWriteRefused()).isTrue();
  }

  @Test
  void aSuccessForgetsAllFailures() {
    retries.refusedWrite(0, refused(Reason.UNAVAILABLE), false);
    retries.notConfirmed(0);
    retries.reset();

    assertThat(retries.pause(0, false)).isZero();
    assertThat(retries.confirmationPause(0)).isZero();
    retries.refusedWrite(0, refused(Reason.UNAVAILABLE), false);
    assertThat(retries.pause(0, false)).isLessThanOrEqualTo(1_200 * MILLIS);
  }

  @Test
  void aFailedConfirmationHoldsUpNoOtherRequest() {
    for (int i = 0; i < 10; i++) {
      retries.notConfirmed(0);
    }

    assertThat(retries.confirmationPause(0)).isBetween(30_000 * MILLIS, 36_000 * MILLIS);
    assertThat(retries.pause(0, false)).isZero();
  }
}
