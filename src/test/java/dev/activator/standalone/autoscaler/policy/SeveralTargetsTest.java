package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.autoscaler.policy.ScalingSettings.Aim;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Bounds;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Idle;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Limits;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Metric;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Regime;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Windows;
import dev.activator.revision.QueueTimeHistogram;
import dev.activator.testing.TestValues;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a Decider decides by several targets. */
class SeveralTargetsTest {
  private static final long SECOND = 1_000_000_000;
  private static final Windows WINDOWS = Windows.of(Duration.ofSeconds(60), 10, 2, false);

  private static ScalingSettings settings(double concurrency, double rate, @Nullable Integer queue,
      Regime regime) {
    var aims = new ArrayList<Aim>();
    if (concurrency > 0) {
      aims.add(new Aim(Metric.CONCURRENCY, concurrency));
    }
    if (rate > 0) {
      aims.add(new Aim(Metric.REQUESTS_PER_SECOND, rate));
    }
    return new ScalingSettings(aims, queue == null ? null : Duration.ofMillis(queue), WINDOWS,
        Limits.DEFAULT, new Bounds(0, 0, 0), Idle.DEFAULT, regime);
  }

  private static QueueTimeHistogram waits(int requests, int millis) {
    var counts = new int[QueueTimeHistogram.BUCKETS];
    counts[QueueTimeHistogram.bucket(Duration.ofMillis(millis))] = requests;
    return QueueTimeHistogram.of(counts);
  }

  private static ScaleDecider after(int seconds, LoadSample each) {
    var decider = new ScaleDecider(0, 0, WINDOWS);
    for (int second = 0; second <= seconds; second++) {
      decider.record(second * SECOND, each, settings(1, 0, 1, Regime.YIELDING));
    }
    return decider;
  }

  @ParameterizedTest(name = "{0} in flight, {1} a second, at {2} and {3} a pod")
  @CsvSource(delimiter = '|', value = {
      "40 | 100 | 20 | 100 | 2 | 2 = ceil(40 in flight ÷ 20), stable window",
      "40 | 350 | 20 | 100 | 4 | 4 = ceil(350 requests a second ÷ 100), stable window",
      "20 | 100 | 20 | 100 | 1 | 1 = ceil(20 in flight ÷ 20), stable window",
      "0.2 | 350 | 0 | 100 | 4 | 4 = ceil(350 requests a second ÷ 100), stable window",
      "1 | 0 | 0 | 100 | 1 | 1, for any request in flight, 1 in the stable window",
      "0 | 0 | 20 | 100 | 0 | 0 = ceil(0 in flight ÷ 20), stable window"})
  void theOneThatNeedsTheMostPodsCounts(double open, double arrivals, double concurrency,
      double rate, int pods, String cause) {
    var decision = after(60, TestValues.sample("a", open, arrivals)).decide(60 * SECOND, 1,
        settings(concurrency, rate, null, Regime.YIELDING));

    assertThat(decision.pods()).isEqualTo(pods);
    assertThat(decision.cause()).isEqualTo(cause);
    assertThat(decision.isIdle()).isEqualTo(pods == 0);
  }

  @Test
  void aSurgeOfEitherIsPanic() {
    var decider = after(60, TestValues.sample("a", 1, 10));
    for (int second = 61; second < 65; second++) {
      decider.record(second * SECOND, TestValues.sample("a", 1, 900),
          settings(1, 0, null, Regime.YIELDING));
    }

    var decision = decider.decide(64 * SECOND, 1, settings(20, 100, null, Regime.YIELDING));

    assertThat(decision.panicking()).isTrue();
    assertThat(decision.cause()).contains("requests a second ÷ 100), panic window");
  }

  @ParameterizedTest(name = "{0} in flight, {1} a second")
  @CsvSource({"1, 0, 1", "0, 1, 1", "0, 0, 0"})
  void besideAnHpa_anyLoadNeedsOnePod(double open, double arrivals, int pods) {
    assertThat(after(60, TestValues.sample("a", open, arrivals))
        .decide(60 * SECOND, 1, settings(0, 100, null, Regime.ZERO_OR_ONE)).pods())
        .isEqualTo(pods);
  }

  @Test
  void knativesRevisionsScaleByTheirMetricAlone() {
    assertThat(after(60, TestValues.sample("a", 5, 0))
        .decide(60 * SECOND, 1, settings(0, 100, null, Regime.ALONE)).pods()).isZero();
  }

  @Test
  void moreThanTheTargetInTheQueueAddsPods_andSaysWhy() {
    var decider = after(60, new LoadSample("a", 10, 100, waits(100, 300)));

    var decision = decider.decide(60 * SECOND, 4, settings(20, 0, 200, Regime.YIELDING));

    assertThat(decision.pods()).isBetween(5, 8);
    assertThat(decision.cause())
        .matches("\\d for 4 ready, as 95 of 100 requests wait \\d+[.]\\d+ ms of 200 ms in the"
            + " queue");
  }

  @Test
  void aFewThatWaitAddNone() {
    var decider = after(60, new LoadSample("a", 10, 100, waits(4, 5_000)));

    var decision = decider.decide(60 * SECOND, 1, settings(20, 0, 200, Regime.YIELDING));

    assertThat(decision.pods()).isEqualTo(1);
    assertThat(decision.cause()).isEqualTo("1 = ceil(10 in flight ÷ 20), stable window");
  }

  /** Milliseconds; in the last seconds, in the whole window. */
  @ParameterizedTest(name = "{0} ready, {1} ms now and {2} before")
  @CsvSource({"2, 1000, 1000, 4", "2, 100000, 100000, 4", "3, 150, 150, 5", "3, 110, 110, 3",
      "3, 111, 111, 4", "10, 90, 90, 9", "10, 10, 90, 9", "10, 10, 5000, 10", "10, 0, 0, 0",
      "1, 300, 300, 2"})
  void growsByWhatIsMeasuredNow_andShrinksByNoMoreThanWhatWasBefore(int ready, double now,
      double before, int pods) {
    assertThat(QueueTimeScaler.Demand.of(ready, now, before, 100).pods()).isEqualTo(pods);
  }

  @Test
  void theTimesOfRequestsThatCameBeforeTheLastPodDoNotCountForGrowth() {
    var window = new QueueTimeScaler();
    for (int second = 0; second < 10; second++) {
      window.record(second, 100, waits(100, 4_000));
    }
    var target = Duration.ofMillis(500);
    assertThat(window.demand(9, 2, target, 6, 60).pods()).isEqualTo(4);

    // The pods come, and take what has waited for long.
    window.record(10, 100, waits(100, 4_000));
    assertThat(window.demand(10, 4, target, 6, 60).pods()).isEqualTo(4);
    window.record(11, 100, waits(100, 3_000));
    assertThat(window.demand(11, 4, target, 6, 60).pods()).isEqualTo(4);

    // Those that came since wait for long, too.
    for (int second = 12; second < 18; second++) {
      window.record(second, 100, waits(100, 2_000));
    }
    assertThat(window.demand(17, 4, target, 6, 60).pods()).isEqualTo(8);
  }

  @Test
  void forgetsWhatIsOlderThanAMinute() {
    var window = new QueueTimeScaler();
    window.record(0, 10, waits(10, 4_000));

    assertThat(window.demand(59, 1, Duration.ofMillis(500), 6, 3_600).millis()).isPositive();
    assertThat(window.demand(60, 1, Duration.ofMillis(500), 6, 3_600).millis()).isZero();
    window.record(100, 1, QueueTimeHistogram.NONE);
    assertThat(window.demand(100, 1, Duration.ofMillis(500), 6, 3_600))
        .isEqualTo(new QueueTimeScaler.Demand(0, 0));
  }

  @Test
  void aPercentileIsWithinItsBucket() {
    var window = new QueueTimeScaler();
    window.record(0, 190, waits(190, 300));
    window.record(0, 10, waits(10, 20));

    assertThat(window.demand(0, 1, Duration.ofSeconds(1), 6, 60).millis()).isBetween(256.0, 363.0);
    assertThat(List.of(0, 1, 1, 2, 39)).isEqualTo(
        java.util.stream.Stream.of(0L, 1_100_000L, 1_400_000L, 1_500_000L, 900_000_000_000L)
            .map(nanos -> QueueTimeHistogram.bucket(Duration.ofNanos(nanos))).toList());
  }
}
