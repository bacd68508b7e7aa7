package dev.activator.standalone.autoscaler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.LeadershipCheck;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScalingView.ScaleState;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.revision.ScalingListener;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.On;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Phase;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Seen;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Settings;
import dev.activator.standalone.policy.ConflictSpec;
import dev.activator.standalone.policy.ScaledServiceSpec;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WorkloadConflictsTest {
  private static final RevisionId BIG = new RevisionId("gpu", "big");
  private static final RevisionId SMALL = new RevisionId("gpu", "small");
  private static final RevisionId OTHER = new RevisionId("gpu", "other");
  private static final int YIELD_AFTER = 10;

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakeScales scales = new FakeScales();
  private final List<String> changes = new ArrayList<>();
  private final Map<RevisionId, Integer> pods = new HashMap<>();
  private Autoscaler autoscaler = autoscaler();
  private int second;
  private boolean wasStopping;

  private Autoscaler autoscaler() {
    return new Autoscaler(loop, scales, LeadershipCheck.ALONE, new ScalingListener() {
      @Override
      public void happened(RevisionId id, boolean warning, String reason, String message) {
        changes.add(second + " " + id.name() + " " + reason);
      }
    }, new Random(1));
  }

  @BeforeEach
  void start() {
    for (var id : List.of(BIG, SMALL, OTHER)) {
      scales.set(id, 0);
    }
    elect();
  }

  private void elect() {
    autoscaler.members(Map.of("a", true));
    autoscaler.target(target(BIG, Set.of(SMALL)));
    autoscaler.target(target(SMALL, Set.of()));
    autoscaler.target(target(OTHER, Set.of()));
    pods.forEach((id, present) -> autoscaler.pods(id, present, present));
    autoscaler.start();
    loop.run();
  }

  private ScaledServiceSpec target(RevisionId id, Set<RevisionId> with) {
    var spec = TestValues.scaledTarget(id, new ScaleTargetRef("apps/v1", "Deployment", id.name()),
        0, OptionalInt.of(5), OptionalInt.of(20), 0, Duration.ofSeconds(60),
        Duration.ofSeconds(300), OptionalInt.empty());
    return new ScaledServiceSpec(id, spec.workload(), 0, spec.maxReplicas(), false, spec.load(), 0,
        spec.window(), spec.requestTimeout(), spec.lastDesired(), spec.warmTimes(),
        conflict(with).published(wasStopping), "");
  }

  /** Seconds in which these have requests. A pod is ready, or gone, a second later. */
  private void seconds(int count, RevisionId... busy) {
    for (int i = 0; i < count; i++) {
      loop.advance(Duration.ofSeconds(1));
      second++;
      for (var id : List.of(BIG, SMALL, OTHER)) {
        if (pods.getOrDefault(id, 0) != scales.replicas(id)) {
          pods.put(id, scales.replicas(id));
          autoscaler.pods(id, scales.replicas(id), scales.replicas(id));
        }
      }
      autoscaler.received(new ReportBatch("a", OptionalDouble.of(1_000), List.of(busy).stream()
          .map(id -> new ReportBatch.Entry(id, TestValues.sample("a", 1, 1))).toList()));
      loop.run();
      assertThat(isOn(BIG) && isOn(SMALL)).as("both are awake in second %d", second).isFalse();
    }
  }

  private boolean isOn(RevisionId id) {
    return scales.replicas(id) + pods.getOrDefault(id, 0) > 0;
  }

  @Test
  void theSecondStartsOnceTheFirstHasStopped_underSteadyLoadOnBoth() {
    seconds(1, BIG);
    seconds(40, BIG, SMALL);

    assertThat(changes).startsWith("1 big ScaledUp", "11 big ScaledToZero", "12 small ScaledUp",
        "22 small ScaledToZero", "23 big ScaledUp", "33 big ScaledToZero", "34 small ScaledUp");
  }

  @Test
  void theSecondStartsAsSoonAsThePodsOfTheFirstAreGone_howeverLongTheyTookToEnd() {
    seconds(1, BIG);
    scales.ending = 1;
    seconds(100, BIG, SMALL);
    assertThat(scales.replicas(BIG) + scales.replicas(SMALL)).isZero();

    scales.set(BIG, 0);
    autoscaler.pods(BIG, 0, 0);
    loop.run();

    assertThat(scales.replicas(SMALL)).isEqualTo(1);
  }

  @Test
  void theSecondNeedsNoReadOfTheFirst_whoseScaleHasShownItsEndBeforeThePodsWereGone() {
    seconds(1, BIG);
    seconds(10, BIG, SMALL);
    loop.advance(Duration.ofSeconds(1));
    assertThat(scales.replicas(BIG) + scales.replicas(SMALL)).isZero();

    scales.laterReads = new ArrayList<>();
    autoscaler.pods(BIG, 0, 0);
    loop.run();

    assertThat(scales.replicas(SMALL)).isEqualTo(1);
  }

  @Test
  void theFirstStopsAtOnceWithoutRequests_otherwiseOnlyAfterItsWindow() {
    seconds(3, BIG);
    seconds(2);
    seconds(2, SMALL);

    assertThat(changes).containsExactly("1 big ScaledUp", "6 big ScaledToZero",
        "7 small ScaledUp");
  }

  @Test
  void oneWithoutConflictsIsNotAffected() {
    seconds(2, BIG, OTHER);

    assertThat(scales.replicas(OTHER)).isEqualTo(1);
  }

  @Test
  void saysForWhatRequestsWait() {
    seconds(3, BIG);
    seconds(3, BIG, SMALL);

    var view = autoscaler.view(SMALL);
    assertThat(view.state()).isEqualTo(ScaleState.WAITING);
    assertThat(view.note()).isEqualTo("it waits until big has stopped (spec.conflictsWith)");
    assertThat(view.active().reason()).isEqualTo("Queued");
    assertThat(autoscaler.view(BIG).state()).isEqualTo(ScaleState.RUNNING);
  }

  @Test
  void aNewLeaderStartsNoneBeforeItHasReadTheOthers() {
    seconds(3, BIG);
    autoscaler.stop();
    loop.run();
    autoscaler = autoscaler();
    var answers = new ArrayList<Runnable>();
    scales.laterReads = answers;
    elect();
    seconds(2, SMALL);
    assertThat(scales.replicas(SMALL)).isZero();

    scales.laterReads = null;
    answers.forEach(Runnable::run);
    loop.run();
    seconds(3, SMALL);

    assertThat(changes).containsExactly("1 big ScaledUp", "5 big ScaledToZero",
        "6 small ScaledUp");
  }

  @Test
  void aNewLeaderWaitsForThePodsOfOneThatIsNoLongerScaled() {
    seconds(3, BIG);
    autoscaler.targetGone(BIG, target(BIG, Set.of()).workload());
    autoscaler.stop();
    loop.run();
    autoscaler.start();
    seconds(5, SMALL);
    assertThat(scales.replicas(SMALL)).isZero();

    scales.set(BIG, 0);
    seconds(3, SMALL);

    assertThat(scales.replicas(SMALL)).isEqualTo(1);
  }

  @Test
  void oneKeepsThePodsThatItHadBeforeItWasScaled_unlessAnotherWaits() {
    autoscaler.targetGone(SMALL, target(SMALL, Set.of()).workload());
    scales.set(SMALL, 1);
    seconds(3);
    autoscaler.target(target(SMALL, Set.of()));
    autoscaler.pods(SMALL, 1, 1);
    seconds(5, SMALL);
    assertThat(changes).isEmpty();

    seconds(10, SMALL, BIG);

    assertThat(changes).containsExactly("12 small ScaledToZero", "13 big ScaledUp");
  }

  @Test
  void oneWaitsForPodsOfAnotherThatWasNeverScaled() {
    autoscaler.targetGone(SMALL, target(SMALL, Set.of()).workload());
    scales.set(SMALL, 1);
    seconds(3);
    seconds(5, BIG);
    assertThat(scales.replicas(BIG)).isZero();
    assertThat(autoscaler.view(BIG).note())
        .isEqualTo("it waits until small has stopped (spec.conflictsWith)");

    scales.set(SMALL, 0);
    seconds(3, BIG);

    assertThat(scales.replicas(BIG)).isEqualTo(1);
  }

  @Test
  void oneWhoseWorkloadDoesNotExistIsInNobodysWay_alsoIfItHasRequests() {
    autoscaler.stop();
    loop.run();
    scales.refusesReads = Reason.NOT_FOUND;
    scales.refusesOnly = SMALL;
    autoscaler = autoscaler();
    elect();
    seconds(2, BIG);
    seconds(20, BIG, SMALL);

    assertThat(changes).containsExactly("0 small TargetNotFound", "1 big ScaledUp");
  }

  @Test
  void oneWhoseWorkloadIsDeletedIsInNobodysWayOnceItsPodsAreGone() {
    seconds(3, SMALL);
    scales.refusesReads = Reason.NOT_FOUND;
    scales.refusesOnly = SMALL;
    autoscaler.pods(SMALL, 0, 1);
    seconds(5, BIG);
    assertThat(scales.replicas(BIG)).isZero();

    scales.set(SMALL, 0);
    seconds(2, BIG);

    assertThat(scales.replicas(BIG)).isEqualTo(1);
  }

  @Test
  void oneWhoseScaleMayNotBeReadIsInNobodysWay_withoutPods() {
    autoscaler.stop();
    loop.run();
    scales.refusesReads = Reason.FORBIDDEN;
    scales.refusesOnly = SMALL;
    autoscaler = autoscaler();
    elect();
    autoscaler.pods(SMALL, 1, 1);
    seconds(2, BIG, SMALL);
    assertThat(scales.replicas(BIG)).isZero();

    autoscaler.pods(SMALL, 0, 0);
    seconds(2, BIG, SMALL);

    assertThat(scales.replicas(BIG)).isEqualTo(1);
  }

  @Test
  void oneThatIsNotScaledAnyMoreIsInNobodysWayOnceItsPodsAreGone() {
    seconds(3, SMALL);
    autoscaler.targetGone(SMALL, target(SMALL, Set.of()).workload());
    autoscaler.pods(SMALL, 0, 1);
    scales.set(SMALL, 0);
    pods.put(SMALL, 0);
    seconds(3, BIG);
    assertThat(scales.replicas(BIG)).isZero();

    autoscaler.pods(SMALL, 0, 0);
    seconds(2, BIG);

    assertThat(scales.replicas(BIG)).isEqualTo(1);
  }

  @Test
  void requestsOfOneThatYieldsMayGoOnUntilTheirTimeout() {
    seconds(1, BIG);
    assertThat(scales.drain).isZero();
    seconds(12, BIG, SMALL);

    assertThat(scales.drain).isEqualTo(Duration.ofSeconds(300));
  }

  @Test
  void aNewLeaderGivesNoNewTurnToOneThatWasYielding() {
    seconds(1, BIG);
    scales.mayScaleToZero = new CompletableFuture<>();
    seconds(12, BIG, SMALL);
    assertThat(scales.drain).isPositive();
    autoscaler.stop();
    loop.run();
    scales.mayScaleToZero = CompletableFuture.completedFuture(true);
    autoscaler = autoscaler();
    wasStopping = true;
    elect();

    seconds(3, BIG, SMALL);

    assertThat(changes).containsExactly("1 big ScaledUp", "14 big ScaledToZero",
        "15 small ScaledUp");
  }

  @Test
  void oneThatWaits_alsoWaitsForThoseThatAChangeNames() {
    var conflicts = new WorkloadConflicts(loop);
    for (var id : List.of(BIG, OTHER)) {
      conflicts.configured(id, new Settings(conflict(Set.of()), Duration.ofSeconds(300)), () -> {
      });
    }
    conflicts.configured(SMALL, new Settings(conflict(Set.of(OTHER)), Duration.ofSeconds(300)),
        () -> {
        });
    conflicts.observed(OTHER, new Seen(On.ON, true, true, true));
    var waits = new Seen(On.OFF, false, true, true);
    assertThat(conflicts.observed(SMALL, waits)).isEqualTo(Phase.WAITING);

    conflicts.configured(SMALL, new Settings(conflict(Set.of(BIG)), Duration.ofSeconds(300)),
        () -> {
        });

    assertThat(conflicts.observed(SMALL, waits)).isEqualTo(Phase.WAITING);
    conflicts.observed(BIG, new Seen(On.OFF, false, false, false));
    assertThat(conflicts.observed(SMALL, waits)).isEqualTo(Phase.RUNNING);
  }

  private static ConflictSpec conflict(Set<RevisionId> with) {
    return new ConflictSpec(with, Duration.ofSeconds(YIELD_AFTER));
  }
}
