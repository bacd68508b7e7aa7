package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.autoscaler.policy.ScaleWritePlanner.Change;
import dev.activator.standalone.autoscaler.policy.ScaleWritePlanner.Plan;
import dev.activator.standalone.autoscaler.policy.ScaleWritePlanner.Situation;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Aim;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Bounds;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Idle;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Limits;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Metric;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Regime;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Windows;
import dev.activator.revision.ScalingView.ActiveCondition.State;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScaleWritePlannerTest {
  private static final OptionalInt NOTHING = OptionalInt.empty();

  /** A workload and its planner. Times are seconds. */
  private static final class Target {
    private Regime regime = Regime.YIELDING;
    private Bounds bounds = new Bounds(0, 0, 0);
    private Duration retention = Duration.ZERO;
    private Duration progressDeadline = Idle.DEFAULT.progressDeadline();
    private final ScaleWritePlanner planner;
    private int replicas;
    private int ready;
    private int decided;
    private boolean idle;
    private boolean mayShrink = true;
    private boolean quiet = true;

    Target(double now) {
      this(now, OptionalInt.empty());
    }

    Target(double now, OptionalInt lastDesired) {
      planner = new ScaleWritePlanner(nanos(now), lastDesired);
    }

    ScalingSettings settings() {
      return new ScalingSettings(new Aim(Metric.CONCURRENCY, 10),
          Windows.of(Duration.ofSeconds(60), 10, 2, false), Limits.DEFAULT, bounds,
          new Idle(retention, progressDeadline), regime);
    }

    static long nanos(double seconds) {
      return Math.round(seconds * 1e9);
    }

    void report(double at) {
      planner.demanded(nanos(at), true);
    }

    Plan plan(double at) {
      return planner.plan(nanos(at),
          new Situation(decision(), replicas, ready, mayShrink, quiet), settings());
    }

    private ScaleDecision decision() {
      return new ScaleDecision(decided, idle ? 0 : decided, 0, false, "");
    }

    /** Plans, and carries it out. */
    OptionalInt write(double at) {
      var write = plan(at).write();
      write.ifPresent(now -> {
        planner.wrote(now);
        replicas = now;
        ready = Math.min(ready, now);
      });
      return write;
    }

    boolean sees(int now) {
      return change(0, now) != Change.NONE;
    }

    Change change(double at, int now) {
      replicas = now;
      return planner.sees(nanos(at), now, decision(), settings());
    }

    State state() {
      return planner.activity().state();
    }
  }

  /** One request at 100.2, for which the decision is 1 until 160. */
  private static Target woken(double readyAt) {
    var target = new Target(0);
    target.sees(0);
    target.decided = 1;
    target.report(100.2);
    assertThat(target.write(100.2)).hasValue(1);
    assertThat(target.state()).isEqualTo(State.UNKNOWN);
    target.ready = 1;
    assertThat(target.write(readyAt)).isEqualTo(NOTHING);
    assertThat(target.state()).isEqualTo(State.TRUE);
    return target;
  }

  @Test
  void theLastPodGoesThreeSecondsAfterAWholeActiveWindow() {
    var target = woken(101);
    target.decided = 0;

    var kept = target.plan(160);
    assertThat(kept.write()).isEqualTo(NOTHING);
    assertThat(kept.again()).hasValue(Target.nanos(161));
    assertThat(target.plan(161).again()).hasValue(Target.nanos(164));
    assertThat(target.state()).isEqualTo(State.FALSE);
    assertThat(target.plan(163.9).write()).isEqualTo(NOTHING);
    assertThat(target.write(164)).hasValue(0);
    assertThat(target.planner.activity().reason()).isEqualTo("NoTraffic");
  }

  @Test
  void aRequestOnTheWayDownKeepsThePodWithoutAWrite() {
    var target = woken(101);
    target.decided = 0;
    target.plan(161);

    target.report(162.3);
    target.decided = 1;
    assertThat(target.write(162.3)).isEqualTo(NOTHING);
    assertThat(target.state()).isEqualTo(State.TRUE);

    target.decided = 0;
    assertThat(target.write(222)).isEqualTo(NOTHING);
    target.plan(222.3);
    assertThat(target.write(225.2)).isEqualTo(NOTHING);
    assertThat(target.write(225.3)).hasValue(0);
  }

  @ParameterizedTest(name = "ready at {0}, retention {1}: {2}")
  @CsvSource({"130, 0, 193", "101, 20, 181", "101, 45, 206"})
  void slowStartsAndRetentionDelayTheEnd(double readyAt, int retention, double zeroAt) {
    var target = woken(readyAt);
    target.retention = Duration.ofSeconds(retention);
    target.decided = 0;

    target.plan(readyAt + 60);
    assertThat(target.write(zeroAt - 0.1)).isEqualTo(NOTHING);
    assertThat(target.write(zeroAt)).hasValue(0);
  }

  @Test
  void podsMayTakeAsLongToBecomeReady_asADurationCanBe() {
    var target = new Target(0);
    target.progressDeadline = Duration.ofNanos(Long.MAX_VALUE);
    target.sees(1);

    var kept = target.plan(100);

    assertThat(kept.write()).isEqualTo(NOTHING);
    assertThat(kept.again().getAsLong()).isGreaterThan(Target.nanos(100));
    assertThat(target.plan(1_000_000).write()).isEqualTo(NOTHING);
  }

  @Test
  void theInitialScaleHoldsUntilTheMaximumWasReadyOnce_ifThatIsLess() {
    var target = new Target(0);
    target.bounds = new Bounds(0, 2, 3);
    target.sees(0);
    assertThat(target.write(0)).hasValue(2);

    target.ready = 2;
    target.plan(11);

    assertThat(target.state()).isEqualTo(State.TRUE);
    assertThat(target.write(12)).hasValue(1);
  }

  @Test
  void podsThatNeverBecomeReadyAreGivenUp() {
    var target = new Target(0);
    target.sees(0);
    target.plan(0);
    target.decided = 1;
    target.report(100.2);
    target.write(100.2);
    target.decided = 0;

    assertThat(target.write(730.2)).isEqualTo(NOTHING);
    assertThat(target.write(730.3)).hasValue(0);
    assertThat(target.planner.activity().reason()).isEqualTo("TimedOut");
    assertThat(target.planner.activity().message())
        .isEqualTo("The target could not be activated.");
  }

  @Test
  void manyIdlePodsBecomeOneWhileTheWindowRuns() {
    var target = woken(101);
    target.decided = 10;
    target.write(110);
    target.ready = 10;
    target.decided = 0;

    assertThat(target.write(150)).hasValue(1);
  }

  @Test
  void theEndWaitsForAWindowAfterTheLastReportOfARequest() {
    var target = woken(101);
    target.decided = 0;
    target.plan(161);
    // given a request so short that the average does not show it
    target.planner.demanded(Target.nanos(162), false);

    assertThat(target.plan(164).again()).hasValue(Target.nanos(222));
    assertThat(target.write(222)).hasValue(0);
  }

  @ParameterizedTest(name = "{0} in {1} to {2}: {3}")
  @CsvSource({"0, 2, 0, 2", "10, 0, 8, 8", "1, 2, 5, 2", "7, 0, 0, 7"})
  void keepsTheDecisionWithinItsBounds(int decided, int min, int max, int written) {
    var target = new Target(0);
    target.bounds = new Bounds(min, max, 0);
    target.sees(0);
    target.decided = decided;

    assertThat(target.write(10)).hasValue(written);
  }

  @Test
  void theInitialScaleHoldsUntilItWasReadyOnce() {
    var target = new Target(0);
    target.bounds = new Bounds(0, 0, 3);
    target.sees(0);

    assertThat(target.write(0)).hasValue(3);
    target.ready = 2;
    target.plan(10);
    assertThat(target.state()).isEqualTo(State.UNKNOWN);
    target.ready = 3;
    target.plan(11);
    assertThat(target.write(12)).hasValue(1);
  }

  @Test
  void nothingIsScaledDown_beforeAllActivatorsHaveReported() {
    var target = new Target(0);
    target.sees(5);
    target.ready = 5;
    target.mayShrink = false;
    target.decided = 2;

    assertThat(target.plan(10).write()).isEqualTo(NOTHING);
    assertThat(target.plan(10).note()).contains("stays at 5");
    // then the next leader, which is told this, takes what it finds for ours
    assertThat(target.planner.desired()).hasValue(5);
    target.decided = 7;
    assertThat(target.write(12)).hasValue(7);
    target.decided = 2;
    target.mayShrink = true;
    assertThat(target.write(62)).hasValue(2);
  }

  @ParameterizedTest(name = "may shrink {0}, quiet {1}")
  @CsvSource({"false, true", "true, false"})
  void theLastPodStays_whileAnActivatorMayHaveARequest(boolean mayShrink, boolean quiet) {
    var target = woken(101);
    target.decided = 0;
    target.plan(161);
    target.mayShrink = mayShrink;
    target.quiet = quiet;

    assertThat(target.write(164)).isEqualTo(NOTHING);
    target.mayShrink = true;
    target.quiet = true;
    assertThat(target.write(165)).hasValue(0);
  }

  @ParameterizedTest(name = "wanted {0}, another set {1}, wanted {2}: {3}")
  @CsvSource({"3, 6, 4, ", "3, 6, 2, ", "3, 6, 6, ", "3, 6, 7, 7", "5, 2, 4, ", "5, 2, 6, 6",
      "5, 2, 5, ", "5, 2, 2, ", "5, 2, 1, 1", "3, 0, 3, ", "0, 1, 0, "})
  void whatAnotherSetStandsUntilThereIsAReason(int before, int set, int wanted, Integer written) {
    var target = changedByAnother(before, set);
    target.decided = wanted;

    var write = target.write(20);
    assertThat(write).isEqualTo(written == null ? NOTHING : OptionalInt.of(written));
  }

  private static Target changedByAnother(int before, int set) {
    var target = new Target(0);
    target.sees(before);
    target.decided = before;
    target.ready = before;
    target.write(10);
    assertThat(target.sees(set)).isTrue();
    assertThat(target.sees(set)).isFalse();
    return target;
  }

  @Test
  void aRequestAfterAnotherScaledToZeroIsAReason() {
    var target = changedByAnother(3, 0);
    assertThat(target.write(20)).isEqualTo(NOTHING);

    target.report(21);
    assertThat(target.write(21)).hasValue(3);
  }

  @Test
  void anIdlePeriodIsAReasonToTakeBackWhatAnotherAdded() {
    var target = changedByAnother(3, 6);
    target.decided = 0;
    target.plan(70);
    target.plan(131);

    assertThat(target.write(134)).hasValue(0);
  }

  @Test
  void theLimitOfAStepDownDoesNotKeepWhatAnotherAddedForEver() {
    var target = changedByAnother(3, 6);
    // given an idle load, of which a step down from 6 pods makes 3
    target.decided = 3;
    target.idle = true;
    target.ready = 6;
    target.plan(70);
    target.plan(131);

    assertThat(target.write(134)).hasValue(0);
  }

  @Test
  void podsThatAnotherAddedToAnIdleWorkloadStayForOneWindow() {
    staysForOneWindow(Regime.YIELDING);
  }

  private static void staysForOneWindow(Regime regime) {
    var target = new Target(0);
    target.regime = regime;
    target.sees(0);
    target.write(10);

    assertThat(target.change(100, 2)).isEqualTo(Change.WOKEN);
    assertThat(target.change(101, 2)).isEqualTo(Change.NONE);
    target.ready = 2;

    assertThat(target.write(159)).isEqualTo(NOTHING);
    assertThat(target.plan(159).note())
        .isEqualTo("2 was set by another client while it was idle, and goes to 0 after the window");
    assertThat(target.plan(159).again()).hasValue(Target.nanos(160));
    assertThat(target.write(160)).hasValue(0);
    assertThat(target.plan(161).note()).isEmpty();
  }

  @Test
  void podsThatAnotherAddedToAnIdleWorkloadStayWhileThereAreRequests() {
    var target = changedByAnother(0, 1);
    target.ready = 1;
    target.report(40);
    target.decided = 1;
    target.plan(40);
    target.decided = 0;

    assertThat(target.plan(100).write()).isEqualTo(NOTHING);
    assertThat(target.write(103)).hasValue(0);
  }

  @ParameterizedTest(name = "another set {0}")
  @CsvSource({"6", "2"})
  void onceTheNumbersAgreeTheyAreOursAgain(int set) {
    var target = changedByAnother(3, set);
    target.decided = set;
    target.write(20);
    target.decided = 4;

    assertThat(target.write(30)).hasValue(4);
  }

  @ParameterizedTest(name = "{0} before, {1} now: {2}")
  @CsvSource({"3, 6, true", "6, 6, false", "3, 4, false", ", 6, false"})
  void aNewLeaderKnowsWhatAnotherSetByWhatTheOneBeforeWanted(Integer before, int now,
      boolean byAnother) {
    var target = new Target(0, before == null ? OptionalInt.empty() : OptionalInt.of(before));
    // given that 4 are wanted, so that 4 would be no change
    target.decided = 4;

    assertThat(target.sees(now)).isEqualTo(byAnother);
  }

  @Test
  void whatWasWrittenIsOursWhateverIsWantedMeanwhile() {
    var target = new Target(0);
    target.sees(3);
    target.decided = 5;
    target.write(10);
    target.decided = 4;

    assertThat(target.sees(5)).isFalse();
    assertThat(target.write(12)).hasValue(4);
  }

  @Test
  void hasNoNote_whenTheReplicasNeedNoChange() {
    var target = new Target(0);
    target.sees(3);
    target.decided = 3;
    target.mayShrink = false;

    assertThat(target.plan(10)).isEqualTo(new Plan(NOTHING, OptionalLong.empty(), ""));
  }

  /** Of a write whose answer was lost. */
  @ParameterizedTest(name = "5 attempted, {0} found, {1} wanted: {1}")
  @CsvSource({"3, 5", "5, 4"})
  void whatWasAttemptedIsOursWhetherItWasWrittenOrNot(int found, int wanted) {
    var target = new Target(0);
    target.sees(3);
    target.decided = 5;
    target.planner.mayHaveWritten(5);
    target.decided = wanted;

    assertThat(target.sees(found)).isFalse();
    assertThat(target.write(10)).hasValue(wanted);
  }

  /** A write whose answer was lost arrives after the scale was read again, so that the next one conflicts. */
  @Test
  void aWriteThatArrivesLateIsOurs_thoughAnotherWasAttemptedSince() {
    var target = new Target(0);
    target.sees(1);
    target.planner.mayHaveWritten(3);
    target.sees(1);
    target.decided = 5;
    target.planner.mayHaveWritten(5);

    assertThat(target.sees(3)).isFalse();
    assertThat(target.write(10)).hasValue(5);
  }

  @ParameterizedTest(name = "{0} replicas, load {1}")
  @CsvSource({"0, 1, 1", "4, 1, ", "1, 1, "})
  void withAnotherAutoscalerOnlyZeroAndOneAreOurs(int replicas, int decided, Integer written) {
    var target = new Target(0);
    target.regime = Regime.ZERO_OR_ONE;
    target.sees(replicas);
    target.decided = decided;

    assertThat(target.write(10)).isEqualTo(
        written == null ? NOTHING : OptionalInt.of(written));
  }

  @Test
  void withAnotherAutoscalerAllPodsGoAtOnceAndNoneBefore() {
    // given one that an HPA has scaled to 4
    var target = woken(101);
    target.regime = Regime.ZERO_OR_ONE;
    assertThat(target.sees(4)).isFalse();
    target.decided = 0;

    assertThat(target.write(160)).isEqualTo(NOTHING);
    assertThat(target.write(161)).isEqualTo(NOTHING);
    assertThat(target.write(164)).hasValue(0);
  }

  @Test
  void withAnotherAutoscalerZeroThatAnotherSetStandsUntilARequest() {
    var target = new Target(0);
    target.regime = Regime.ZERO_OR_ONE;
    target.decided = 1;
    assertThat(target.sees(4)).isFalse();

    assertThat(target.sees(0)).isTrue();
    assertThat(target.sees(0)).isFalse();
    assertThat(target.write(10)).isEqualTo(NOTHING);
    target.report(11);
    assertThat(target.write(11)).hasValue(1);
  }

  @Test
  void ownsZero_whenZeroIsWantedBesideAnotherAutoscaler() {
    var target = new Target(0);
    target.regime = Regime.ZERO_OR_ONE;
    assertThat(target.sees(4)).isFalse();

    assertThat(target.sees(0)).isFalse();
    target.decided = 1;
    assertThat(target.write(10)).hasValue(1);
  }

  @Test
  void withAnotherAutoscalerPodsThatAnotherAddedAtZeroStayForOneWindow() {
    staysForOneWindow(Regime.ZERO_OR_ONE);
  }

  @Test
  void overwritesAnotherClientsScale_whenItScalesAlone() {
    var target = new Target(0);
    target.regime = Regime.ALONE;
    target.sees(3);
    target.decided = 3;
    target.write(10);

    assertThat(target.sees(6)).isFalse();
    assertThat(target.write(12)).hasValue(3);
  }
}
