package dev.activator.backend.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.backend.policy.ProbeQueue.Urgency;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rate of probes of addresses that failed; all else is in the tests of the scheduler. */
class ProbeQueueTest {
  private static final long MILLI = 1_000_000;
  private static final RevisionId A = new RevisionId("ns", "a");

  private static ProbeQueue<String> queue(int perSecond, long now) {
    var queue = new ProbeQueue<String>(perSecond, now);
    for (int i = 0; i < 100; i++) {
      queue.add(A, Urgency.STARTING, "probe");
    }
    return queue;
  }

  @ParameterizedTest(name = "from {0}")
  @ValueSource(longs = {0, -5_000_000_000L, Long.MAX_VALUE - 20, Long.MIN_VALUE + 20})
  void allowsATenthOfASecondsWorthAtOnceWhereverTimeBegins(long now) {
    var queue = queue(100, now);
    for (int i = 0; i < 10; i++) {
      assertThat(queue.untilRepeat(now)).isZero();
      assertThat(queue.next(now)).isEqualTo("probe");
    }

    assertThat(queue.next(now)).isNull();
    assertThat(queue.untilRepeat(now)).isEqualTo(Duration.ofMillis(10));
    assertThat(queue.untilRepeat(now + 4 * MILLI)).isEqualTo(Duration.ofMillis(6));
    assertThat(queue.untilRepeat(now + 10 * MILLI)).isZero();
    queue.notSent(A, Urgency.STARTING);
    assertThat(queue.untilRepeat(now)).isZero();
    assertThat(queue.next(now)).isEqualTo("probe");
  }

  @Test
  void allowsOneAtATimeWhereFewAreAllowed() {
    var queue = queue(2, 0);

    assertThat(queue.untilRepeat(0)).isZero();
    assertThat(queue.next(0)).isEqualTo("probe");
    assertThat(queue.untilRepeat(0)).isEqualTo(Duration.ofMillis(500));
  }

  @Test
  void givesBackTheTurnOfAProbeThatWasNotSent() {
    var queue = queue(1, 0);
    assertThat(queue.next(0)).isEqualTo("probe");
    assertThat(queue.next(0)).isNull();

    queue.notSent(A, Urgency.STARTING);

    assertThat(queue.next(0)).isEqualTo("probe");
  }

  @Test
  void refusesARateThatAllowsNothing() {
    assertThatThrownBy(() -> new ProbeQueue<>(0, 0)).hasMessageContaining("not 0");
  }
}
