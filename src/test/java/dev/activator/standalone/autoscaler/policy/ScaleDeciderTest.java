package dev.activator.standalone.autoscaler.policy;

import static dev.activator.standalone.autoscaler.policy.ScaleDeciderTest.Trace.trace;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.autoscaler.policy.ScalingSettings.Aim;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Bounds;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Idle;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Limits;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Metric;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Regime;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Windows;
import dev.activator.testing.TestValues;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each trace was run through Knative's own code. Times are seconds. */
class ScaleDeciderTest {
  /** A workload whose reports are played second by second. */
  static final class Trace {
    private static final long SECOND = 1_000_000_000;
    private Duration window = Duration.ofSeconds(60);
    private double panicPercentage = 10;
    private double threshold = 2;
    private double target = 10;
    private Limits limits = Limits.DEFAULT;
    private boolean weighted;
    private Regime regime = Regime.ALONE;
    private int created;
    private final List<double[]> reports = new ArrayList<>();
    private ScaleDecider decider;

    static Trace trace() {
      return new Trace();
    }

    Trace target(double target) {
      this.target = target;
      return this;
    }

    Trace window(int seconds, double panicPercentage) {
      this.window = Duration.ofSeconds(seconds);
      this.panicPercentage = panicPercentage;
      return this;
    }

    Trace threshold(double threshold) {
      this.threshold = threshold;
      return this;
    }

    Trace limits(double up, double down, int delay, int activation) {
      this.limits = new Limits(up, down, Duration.ofSeconds(delay), activation);
      return this;
    }

    Trace weighted() {
      weighted = true;
      return this;
    }

    Trace createdWith(int ready) {
      created = ready;
      return this;
    }

    /** One report in each second. */
    Trace report(double value, double from, double to) {
      for (double at = from; at <= to; at++) {
        reports.add(new double[]{at, value});
      }
      return this;
    }

    Trace report(double value, double at) {
      return report(value, at, at);
    }

    ScalingSettings settings() {
      return new ScalingSettings(new Aim(Metric.CONCURRENCY, target),
          Windows.of(window, panicPercentage, threshold, weighted), limits, new Bounds(0, 0, 0),
          Idle.DEFAULT, regime);
    }

    /** What is decided then; reports of the same second have come. */
    ScaleDecision at(double time, int ready) {
      if (decider == null) {
        decider = new ScaleDecider(0, created, settings().windows());
      }
      reports.removeIf(report -> {
        boolean due = Math.floor(report[0]) <= Math.floor(time);
        if (due) {
          decider.record((long) (report[0] * SECOND), TestValues.sample("a", report[1], 0),
              settings());
        }
        return due;
      });
      return decider.decide((long) (time * SECOND), ready, settings());
    }

    int pods(double time, int ready) {
      return at(time, ready).pods();
    }

    double panicSince() {
      return (double) decider.panicSince() / SECOND;
    }
  }

  @ParameterizedTest(name = "{0} at {2} pods: {3}, so {4}")
  @CsvSource({"50, 10, 5, 50, 5", "50.0000004, 10, 5, 50, 5", "50.000001, 10, 5, 50.000001, 6",
      "0.001, 10, 5, 0.001, 2", "0.001, 10, 1, 0.001, 1", "2.1, 0.7, 3, 2.1, 4"})
  void roundsUpWithTheArithmeticOfTheReference(double value, double target, int ready,
      double stable, int pods) {
    var decision = trace().target(target).report(value, 0, 10).at(10, ready);

    assertThat(decision.stable()).isEqualTo(stable);
    assertThat(decision.pods()).isEqualTo(pods);
  }

  @Test
  void saysWhyInASentence() {
    var decision = trace().target(20).report(52, 0, 60).at(60, 3);

    assertThat(decision.pods()).isEqualTo(3);
    assertThat(decision.cause()).isEqualTo("3 = ceil(52 in flight ÷ 20), stable window");
  }

  @Test
  void aShortRequestCanVanishInAWindowOfAnHour() {
    var decision = trace().window(3_600, 10).report(0, 0, 3_599).report(0.001, 3_600).at(3_600, 1);

    assertThat(decision.stable()).isZero();
    assertThat(decision.pods()).isZero();
  }

  @ParameterizedTest(name = "target {0}")
  @CsvSource({"10, 1, false", "1, 1, false", "0.7, 2, true"})
  void theFirstRequestAtZeroBringsAPodOrTwo(double target, int pods, boolean panics) {
    var trace = trace().target(target).report(1, 10.2).report(0, 11);

    var first = trace.at(10.2, 0);
    assertThat(first.stable()).isEqualTo(1);
    assertThat(first.pods()).isEqualTo(pods);
    assertThat(first.panicking()).isEqualTo(panics);
    assertThat(trace.at(12, 0)).satisfies(next -> {
      assertThat(next.stable()).isEqualTo(0.5);
      assertThat(next.pods()).isEqualTo(pods);
    });
    assertThat(trace.at(20, 0)).satisfies(next -> {
      assertThat(next.panic()).isZero();
      assertThat(next.pods()).isEqualTo(pods);
    });
  }

  @Test
  void littleMoreThanTheTargetOfOnePodIsPanic() {
    assertThat(trace().target(0.7).report(0.7, 0, 10).at(10, 1))
        .satisfies(steady -> assertThat(steady.pods()).isEqualTo(1))
        .satisfies(steady -> assertThat(steady.panicking()).isFalse());
    assertThat(trace().target(0.7).report(0.71, 0, 10).at(10, 1))
        .satisfies(more -> assertThat(more.pods()).isEqualTo(2))
        .satisfies(more -> assertThat(more.panicking()).isTrue());
  }

  @Test
  void aSurgeFromItsBeginningToZero() {
    var trace = trace().report(10, 0, 59).report(80, 60, 89).report(0, 90, 152);
    double[][] expected = {
        // time, ready, stable, panic, pods, since when it panics or -1
        {58, 1, 10, 10, 1, -1}, {60, 1, 11.166667, 21.666667, 3, 60},
        {62, 1, 13.5, 45, 5, 62}, {64, 1, 15.833333, 68.333333, 7, 64},
        {66, 1, 18.166667, 80, 8, 66}, {68, 8, 20.5, 80, 8, 66},
        {90, 8, 44.833333, 66.666667, 8, 66}, {100, 8, 43.166667, 0, 8, 66},
        {126, 8, 30.666667, 0, 8, 66}, {128, 8, 28, 0, 4, -1}, {130, 4, 25.333333, 0, 3, -1},
        {144, 3, 6.666667, 0, 1, -1}, {148, 1, 1.333333, 0, 1, -1}, {150, 1, 0, 0, 0, -1}};

    for (double[] row : expected) {
      var decision = trace.at(row[0], (int) row[1]);
      assertThat(decision.stable()).as("stable at %s", row[0]).isEqualTo(row[2]);
      assertThat(decision.panic()).as("panic at %s", row[0]).isEqualTo(row[3]);
      assertThat(decision.pods()).as("pods at %s", row[0]).isEqualTo((int) row[4]);
      assertThat(decision.panicking() ? trace.panicSince() : -1).as("since at %s", row[0])
          .isEqualTo(row[5]);
    }
  }

  @ParameterizedTest(name = "{0} with threshold {1}")
  @CsvSource({"30, 2, 3, false", "30.1, 2, 4, true", "30, 1.5, 3, true"})
  void panicBeginsAtTheThreshold(double value, double threshold, int pods, boolean panics) {
    var decision = trace().threshold(threshold).report(value, 0, 9).at(9, 2);

    assertThat(decision.pods()).isEqualTo(pods);
    assertThat(decision.panicking()).isEqualTo(panics);
  }

  @Test
  void aStepUpIsLimitedByTheReadyPods() {
    var doubled = trace().target(1).limits(2, 2, 0, 0).report(100, 0, 22);
    int[] ready = {3, 6, 12, 24, 48, 96, 100};
    int[] pods = {6, 12, 24, 48, 96, 100, 100};
    for (int i = 0; i < ready.length; i++) {
      assertThat(doubled.pods(10 + 2 * i, ready[i])).isEqualTo(pods[i]);
    }
    assertThat(doubled.panicSince()).isEqualTo(18);

    assertThat(trace().target(1).limits(1.1, 2, 0, 0).report(3, 0, 9).pods(9, 2)).isEqualTo(3);

    var tenfold = trace().target(1).limits(10, 2, 0, 0).report(35, 0, 14);
    assertThat(tenfold.at(10, 0).cause()).startsWith("10 = ceil(10 × 1 ready), one step up to 35");
    assertThat(tenfold.pods(12, 0)).isEqualTo(10);
    assertThat(tenfold.pods(14, 10)).isEqualTo(35);
  }

  @ParameterizedTest(name = "from {0} to {1}")
  @CsvSource({"9, 4", "4, 2", "2, 1", "1, 0", "0, 0"})
  void aStepDownIsLimitedByTheReadyPods(int ready, int pods) {
    assertThat(trace().target(1).report(0, 0, 9).pods(10, ready)).isEqualTo(pods);
  }

  @Test
  void scalesDownInOneStep_whenTheRevisionIsUnreachable() {
    var trace = trace().target(1).limits(1_000, 1.1, 0, 0).report(1, 0, 9);
    assertThat(trace.at(10, 100).cause()).startsWith("90 = floor(100 ready ÷ 1.1), one step down");

    assertThat(trace.decider.decide(10_000_000_000L, 100, trace.settings().unreachable()).pods())
        .isEqualTo(1);
  }

  @Test
  void keepsTheRecentMaximum_whenScaleDownIsDelayed() {
    // given reports that begin at -6, played ten seconds later
    var trace = trace().window(6, 10).target(10).threshold(100).limits(1_000, 10, 10, 0)
        .report(40, 4, 10).report(20, 11, 18).report(0, 19, 30);
    int[] after = {4, 4, 4, 4, 4, 4, 3, 2, 2, 2, 1};
    double[] stable = {40, 33.333333, 26.666667, 20, 20, 13.333333, 6.666667, 0, 0, 0, 0};

    for (int i = 0; i < after.length; i++) {
      var decision = trace.at(10 + 2 * i, 4);
      assertThat(decision.stable()).as("stable at %d", 2 * i).isEqualTo(stable[i]);
      assertThat(decision.pods()).as("pods at %d", 2 * i).isEqualTo(after[i]);
    }
  }

  @ParameterizedTest(name = "zeros until {0}")
  @CsvSource({"70, 10 20 50 60 66 68 69, 10 5 5 5 5 5 5",
      "10, 10 20 50 60 66 68 69, 10 10 10 9 8 5 5"})
  void countsReportedZeros_butNotMissingReports(int until, String times, String pods) {
    var trace = trace().report(100, 0, 9).report(0, 10, until);
    String[] wanted = pods.split(" ");
    String[] at = times.split(" ");

    for (int i = 0; i < at.length; i++) {
      assertThat(trace.pods(Integer.parseInt(at[i]), 10)).as("at " + at[i])
          .isEqualTo(Integer.parseInt(wanted[i]));
    }
  }

  @Test
  void aGapCountsAsZeroOnceThereIsAReportAgain() {
    var trace = trace().report(30, 0, 9).report(30, 20);

    assertThat(trace.pods(19, 3)).isEqualTo(3);
    assertThat(trace.at(20, 3).stable()).isEqualTo(15.714286);
    assertThat(trace.pods(20, 3)).isEqualTo(2);
  }

  @Test
  void oneShortRequestKeepsAPodForAWindow() {
    var trace = trace().report(1, 100.2).report(0, 101, 102).report(1, 162.3);

    assertThat(trace.pods(98, 0)).isZero();
    assertThat(trace.pods(100.2, 0)).isEqualTo(1);
    assertThat(trace.at(102, 0).stable()).isEqualTo(0.333333);
    assertThat(trace.pods(104, 1)).isEqualTo(1);
    assertThat(trace.pods(158, 1)).isEqualTo(1);
    assertThat(trace.pods(159.9, 1)).isEqualTo(1);
    assertThat(trace.pods(160, 1)).isZero();
    assertThat(trace.at(162.3, 1).stable()).isEqualTo(1);
  }

  @Test
  void withoutAReportThereIsNoLoad() {
    var decision = trace().at(98, 3);

    assertThat(decision.stable()).isZero();
    assertThat(decision.pods()).isEqualTo(1);
  }

  @Test
  void podsThatWereThereBeforeStayForAWindow() {
    var silent = trace().createdWith(6);
    assertThat(silent.pods(0, 6)).isEqualTo(6);
    assertThat(silent.pods(2, 6)).isEqualTo(6);

    var less = trace().createdWith(6).report(20, 5, 64);
    assertThat(less.pods(20, 6)).isEqualTo(6);
    assertThat(less.pods(60, 6)).isEqualTo(6);
    assertThat(less.pods(62, 6)).isEqualTo(3);
    assertThat(less.pods(64, 3)).isEqualTo(2);

    var more = trace().createdWith(6).report(90, 5, 62);
    assertThat(more.at(20, 6)).satisfies(risen -> {
      assertThat(risen.pods()).isEqualTo(9);
      assertThat(risen.panicking()).isTrue();
    });
    assertThat(more.at(62, 9)).satisfies(ended -> {
      assertThat(ended.pods()).isEqualTo(9);
      assertThat(ended.panicking()).isFalse();
    });
  }

  @Test
  void weightsDecideAsWell() {
    assertThat(trace().weighted().report(50, 0, 4).pods(4, 5)).isEqualTo(4);
    assertThat(trace().weighted().report(50, 0, 60).pods(65, 5)).isEqualTo(2);
  }

  @Test
  void theActivationScaleIsTheLeastForAnyLoad() {
    var trace = trace().limits(1_000, 2, 0, 3).report(1, 10).report(45, 11, 40);

    assertThat(trace.pods(0, 0)).isZero();
    assertThat(trace.at(10, 0).cause()).isEqualTo("3, the activation scale, for any load");
    assertThat(trace.at(40, 3)).satisfies(more -> {
      assertThat(more.stable()).isEqualTo(43.580645);
      assertThat(more.pods()).isEqualTo(5);
    });
    assertThat(trace().target(1).limits(1_000, 2, 0, 3).report(2, 10).at(10, 0))
        .satisfies(first -> assertThat(first.pods()).isEqualTo(3))
        .satisfies(first -> assertThat(first.panicking()).isTrue());
  }

  @ParameterizedTest(name = "load {0}: {1}")
  @CsvSource({"0, 0", "0.001, 1", "500, 1"})
  void besideAnotherAutoscalerAnyLoadNeedsOnePod(double load, int pods) {
    var trace = trace().report(load, 10);
    trace.regime = Regime.ZERO_OR_ONE;

    var decision = trace.at(10, 3);
    assertThat(decision.pods()).isEqualTo(pods);
    assertThat(decision.stable()).isEqualTo(load);
    assertThat(decision.panicking()).isFalse();
    assertThat(decision.cause()).startsWith(pods + ": ").endsWith("only scaled between 0 and 1");
  }

  @Test
  void otherWindowsKeepWhatWasReported() {
    var trace = trace().report(0, 0, 29).report(60, 30, 59);
    assertThat(trace.at(59, 6).stable()).isEqualTo(30);

    trace.window(30, 20);
    trace.decider.resize(59_000_000_000L, trace.settings().windows());

    assertThat(trace.at(59, 6).stable()).isEqualTo(60);
    assertThat(trace.report(0, 60).at(60, 6).panic()).isEqualTo(50);
  }

  @ParameterizedTest(name = "at {0}: {1}")
  @CsvSource({"64, true", "64.5, false"})
  void panicEndsAfterAWholeWindowWithoutASurge(double time, boolean panics) {
    var trace = trace().report(30, 4, 9).report(0, 10, 80);
    assertThat(trace.at(4, 1).panicking()).isTrue();
    assertThat(trace.panicSince()).isEqualTo(4);

    assertThat(trace.at(time, 3).panicking()).isEqualTo(panics);
  }

  @Test
  void saysHowLongAgoTheSurgeWasThatKeepsThePods() {
    var trace = trace().report(80, 4, 9).report(0, 10, 40);
    trace.at(4, 1);
    trace.at(9, 8);

    assertThat(trace.at(39, 8).cause())
        .startsWith("8, the most of a surge that was last seen 35 s ago;");
  }

  @Test
  void withoutADelayNothingIsKeptForALaterOne() {
    var trace = trace().target(1).threshold(1_000).window(6, 10).report(9, 0, 5).report(1, 6, 20);
    trace.limits(1_000, 100, 10, 0).at(5, 9);
    trace.limits(1_000, 100, 0, 0).at(12, 9);

    assertThat(trace.limits(1_000, 100, 10, 0).pods(13, 9)).isEqualTo(1);
  }

  @Test
  void reportersAddUp() {
    var trace = trace().target(20).report(1, 100.1).report(1, 100.4).report(30, 100.9)
        .report(20.5, 101.2).report(31, 101.9).report(21, 102.0);

    var decision = trace.at(102, 0);
    assertThat(decision.stable()).isEqualTo(34.833333);
    assertThat(decision.pods()).isEqualTo(2);
    assertThat(trace.panicSince()).isEqualTo(102);
  }

  @Test
  void theStableWindowCanWantMoreInPanic() {
    var decision = trace().target(1).report(55, 0, 53).report(12, 54, 59).at(59, 5);

    assertThat(decision.stable()).isEqualTo(50.7);
    assertThat(decision.panic()).isEqualTo(12);
    assertThat(decision.pods()).isEqualTo(51);
    assertThat(decision.panicking()).isTrue();
  }

  @Test
  void aShortWindowPanicsForItsOwnLength() {
    var trace = trace().window(6, 10).report(5, 0).report(15, 1).report(25, 2, 3).report(5, 4)
        .report(0, 5, 12);
    int[] ready = {1, 1, 3, 3, 3, 3, 1};
    int[] pods = {1, 3, 3, 3, 3, 1, 0};

    for (int i = 0; i < ready.length; i++) {
      assertThat(trace.pods(2 * i, ready[i])).as("at %d", 2 * i).isEqualTo(pods[i]);
    }
  }

  @ParameterizedTest(name = "{0} s, {1} %")
  @CsvSource({"60, 10, 6", "6, 10, 1", "25, 10, 3", "44, 10, 4", "15, 10, 2", "6, 1, 1"})
  void thePanicWindowIsAPartOfTheStableOne(int stable, double percentage, int panic) {
    assertThat(Windows.of(Duration.ofSeconds(stable), percentage, 2, false).panic())
        .isEqualTo(Duration.ofSeconds(panic));
  }
}
