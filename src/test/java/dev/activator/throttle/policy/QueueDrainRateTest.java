package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class QueueDrainRateTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Offset<Double> CLOSE = Offset.offset(0.001);

  @Test
  void isWhatTheLastWholeMeasurementFound() {
    // 50 in the first two seconds, of which the end is a measurement's
    var drain = QueueDrainRate.UNKNOWN.restarted(0).afterGrants(20, SECOND / 2).afterGrants(30,
        2 * SECOND);

    assertThat(drain.at(2 * SECOND + 1)).isEqualTo(25, CLOSE);
    assertThat(drain.at(3 * SECOND - 1)).isEqualTo(25, CLOSE);
    assertThat(drain.at(3 * SECOND)).isEqualTo(1, CLOSE);
  }

  @Test
  void fallsWhileNothingMoves() {
    var drain = QueueDrainRate.UNKNOWN.restarted(0).afterGrants(100, SECOND);

    // ten seconds later without one more, one a ten seconds may be hoped for
    assertThat(drain.at(11 * SECOND)).isEqualTo(0.1, CLOSE);
  }

  @Test
  void doesNotCountTheTimeWithAnEmptyQueue() {
    var drain = QueueDrainRate.UNKNOWN.restarted(0).afterGrants(10, SECOND).restarted(100 * SECOND)
        .afterGrants(10, 100 * SECOND + SECOND / 2).afterGrants(30, 101 * SECOND);

    assertThat(drain.at(101 * SECOND)).isEqualTo(40, CLOSE);
  }

  @Test
  void isAnUpperBoundBeforeTheFirstMeasurement() {
    assertThat(QueueDrainRate.UNKNOWN.restarted(0).at(SECOND / 2)).isEqualTo(2, CLOSE);
    assertThat(QueueDrainRate.UNKNOWN.restarted(0).afterGrants(4, SECOND / 4).at(SECOND / 2))
        .isEqualTo(
            10,
            CLOSE);
  }
}
