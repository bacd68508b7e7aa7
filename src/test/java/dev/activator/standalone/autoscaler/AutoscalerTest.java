package dev.activator.standalone.autoscaler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.INTEGER;

import dev.activator.revision.ScalingListener;
import dev.activator.revision.ScalingView;
import dev.activator.kube.LeadershipCheck;
import dev.activator.standalone.autoscaler.policy.ScalingAnnotations;
import dev.activator.standalone.autoscaler.policy.ScalingAnnotations.Defaults;
import dev.activator.revision.ScalingView.ActiveCondition.State;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.policy.ScaledServiceSpec;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import dev.activator.wire.Stat;
import dev.activator.wire.WireStatMessage;
import dev.activator.wire.WireStatMessages;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class AutoscalerTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaleTargetRef WORKLOAD = new ScaleTargetRef("apps/v1", "Deployment",
      "web");

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakeScales scales = new FakeScales();
  private final List<String> events = new ArrayList<>();
  private String lastMessage = "";
  private final List<ScalingView> changes = new ArrayList<>();
  private boolean leads = true;
  private boolean confirmed = true;
  private final Autoscaler next = new Autoscaler(loop, scales, LeadershipCheck.ALONE,
      new ScalingListener() {
      }, new Random(2));
  private final Autoscaler autoscaler = new Autoscaler(loop, scales, new LeadershipCheck() {
    @Override
    public boolean mayWrite() {
      return leads;
    }

    @Override
    public CompletableFuture<Boolean> confirmed() {
      return CompletableFuture.completedFuture(confirmed);
    }
  }, new ScalingListener() {
    @Override
    public void changed(ScalingView view) {
      changes.add(view);
    }

    @Override
    public void happened(RevisionId id, boolean warning, String reason, String message) {
      events.add(reason);
      lastMessage = message;
    }
  }, new Random(1));

  @BeforeEach
  void start() {
    scales.set(WEB, 0);
    autoscaler.members(Map.of("a", true));
    autoscaler.start();
    loop.run();
  }

  private static ScaledServiceSpec target(OptionalInt max) {
    return TestValues.scaledTarget(WEB, WORKLOAD, 0, max, OptionalInt.of(20), 0,
        Duration.ofSeconds(6),
        Duration.ofSeconds(300), OptionalInt.empty());
  }

  private void report(double concurrency, double arrivals) {
    autoscaler.received(new ReportBatch("a", OptionalDouble.empty(),
        List.of(new ReportBatch.Entry(WEB, TestValues.sample("a", concurrency, arrivals)))));
    loop.run();
  }

  /** Regular batches of the only activator, one a second. */
  private void batches(int seconds, double concurrency) {
    for (int i = 0; i < seconds; i++) {
      loop.advance(Duration.ofSeconds(1));
      autoscaler.received(new ReportBatch("a", OptionalDouble.of(1_000), concurrency == 0
          ? List.of()
          : List.of(new ReportBatch.Entry(WEB, TestValues.sample("a", concurrency, 1)))));
      loop.run();
      autoscaler.pods(WEB, scales.replicas(WEB));
      loop.run();
    }
  }

  /** One second in which some of two activators report. */
  private void second(double ofA, double ofB) {
    loop.advance(Duration.ofSeconds(1));
    batch("a", ofA);
    batch("b", ofB);
  }

  /** @param concurrency negative if it is silent */
  private void batch(String reporter, double concurrency) {
    if (concurrency >= 0) {
      autoscaler.received(new ReportBatch(reporter, OptionalDouble.of(1_000),
          List.of(new ReportBatch.Entry(WEB, TestValues.sample(reporter, concurrency, 1)))));
      loop.run();
      autoscaler.pods(WEB, scales.replicas(WEB));
      loop.run();
    }
  }

  /** With 100 requests at a, and 10 at b, for 20 in each pod. */
  private void twoAreBusy() {
    autoscaler.members(Map.of("a", true, "b", true));
    autoscaler.target(target(OptionalInt.of(20)));
    batch("a", 100);
    IntStream.range(0, 30).forEach(_ -> second(100, 10));
    scales.writes.clear();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  void keepsItsPods_whileTheBusyActivatorIsSilentForSeconds(int seconds) {
    twoAreBusy();

    IntStream.range(0, seconds).forEach(_ -> second(-1, 10));
    IntStream.range(0, 20).forEach(_ -> second(100, 10));

    assertThat(scales.writes).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 10})
  void keepsItsPods_whenReportsComeLate(int seconds) {
    twoAreBusy();
    IntStream.range(0, seconds).forEach(_ -> second(-1, 10));

    IntStream.range(0, seconds).forEach(_ -> batch("a", 100));
    IntStream.range(0, 20).forEach(_ -> second(100, 10));

    assertThat(scales.writes).isEmpty();
  }

  /** The leader stood still. */
  @ParameterizedTest
  @ValueSource(ints = {2, 5, 10})
  void keepsItsPods_whenAllReportsComeLate(int seconds) {
    twoAreBusy();
    loop.advance(Duration.ofSeconds(seconds));

    IntStream.range(0, seconds).forEach(_ -> {
      batch("a", 100);
      batch("b", 10);
    });
    IntStream.range(0, 20).forEach(_ -> second(100, 10));

    assertThat(scales.writes).isEmpty();
  }

  @Test
  void readyPodsDecideWhetherSomethingRuns_thatIsNeitherRunningNorStopped() {
    scales.isUndecided = true;
    autoscaler.target(target(OptionalInt.empty()));
    batches(1, 1);

    assertThat(scales.writes).containsExactly(1);

    autoscaler.pods(WEB, 1);
    batches(20, 0);
    assertThat(scales.writes).containsExactly(1, 0);
  }

  @Test
  void scalesUp_forOneActivator_whileAnotherIsSilent() {
    twoAreBusy();

    IntStream.range(0, 4).forEach(_ -> second(-1, 100));

    assertThat(scales.writes).isNotEmpty().allMatch(replicas -> replicas > 6);
    assertThat(scales.replicas(WEB)).as("enough pods for 190 requests").isGreaterThanOrEqualTo(9);
  }

  @Test
  void takesAwayPodsOfASilentActivator_onceItIsKnownToHaveEnded() {
    twoAreBusy();
    second(-1, 10);
    autoscaler.members(Map.of("b", true));
    loop.run();

    IntStream.range(0, 30).forEach(_ -> second(-1, 10));

    assertThat(scales.replicas(WEB)).isOne();
  }

  private ScalingView view() {
    return autoscaler.views().get(WEB);
  }

  @Test
  void scalesFromZeroWithTheFirstReport() {
    autoscaler.target(target(OptionalInt.of(10)));
    loop.advance(Duration.ofMillis(300));

    report(1, 1);

    assertThat(scales.writes).containsExactly(1);
    assertThat(events).containsExactly("ScaledUp");
  }

  /** Its last pod is idle, and it is not answered yet whether it may go. */
  private void isAboutToGoToZero() {
    autoscaler.target(target(OptionalInt.of(20)));
    report(1, 1);
    scales.mayScaleToZero = new CompletableFuture<>();
    batches(30, 0);
    assertThat(scales.asksForZero).isEqualTo(1);
    assertThat(scales.writes).containsExactly(1);
  }

  @Test
  void scalesUpWhileItIsNotKnownWhetherTheLastPodMayGo() {
    isAboutToGoToZero();

    report(300, 300);

    assertThat(scales.writes).hasSize(2).last().asInstanceOf(INTEGER).isGreaterThan(1);
  }

  @Test
  void theLastPodStays_ifARequestComesBeforeItMayGo() {
    isAboutToGoToZero();

    report(1, 1);
    assertThat(scales.cancelledScaleToZero).isEqualTo(1);
    scales.mayScaleToZero.complete(true);
    loop.run();

    assertThat(scales.writes).containsExactly(1);
  }

  @Test
  void checksAgainWhetherTheLastPodMayGo_whenTheAnswerFails() {
    isAboutToGoToZero();

    scales.mayScaleToZero.completeExceptionally(new IllegalStateException("no loop"));
    scales.mayScaleToZero = CompletableFuture.completedFuture(true);
    batches(60, 0);

    assertThat(scales.writes).containsExactly(1, 0);
  }

  @Test
  void checksAgainWhetherTheLastPodMayGo_ifTheWriteIsDelayed() {
    isAboutToGoToZero();

    scales.refusesReads = Reason.UNAVAILABLE;
    scales.mayScaleToZero.complete(true);
    loop.run();
    scales.refusesReads = null;
    scales.mayScaleToZero = new CompletableFuture<>();
    batches(60, 0);
    assertThat(scales.asksForZero).isEqualTo(2);
    assertThat(scales.writes).containsExactly(1);

    scales.mayScaleToZero.complete(true);
    loop.run();
    assertThat(scales.writes).containsExactly(1, 0);
    assertThat(scales.cancelledScaleToZero).isZero();
  }

  @Test
  void theLastPodStays_ifARequestComesWhileItsWriteIsDelayed() {
    isAboutToGoToZero();
    scales.refusesReads = Reason.UNAVAILABLE;
    scales.mayScaleToZero.complete(true);
    loop.run();
    scales.refusesReads = null;

    report(1, 1);
    batches(2, 1);

    assertThat(scales.writes).containsExactly(1);
    assertThat(scales.cancelledScaleToZero).isEqualTo(1);
  }

  @Test
  void aReportThatComesBeforeTheWorkloadIsKnownWakesItToo() {
    report(1, 1);
    autoscaler.target(target(OptionalInt.of(10)));
    loop.run();

    assertThat(scales.writes).containsExactly(1);
  }

  @Test
  void ignoresAReport_whenTheWorkloadBecomesKnownSecondsLater() {
    report(1, 1);
    loop.advance(Duration.ofSeconds(4));
    autoscaler.target(target(OptionalInt.of(10)));
    loop.advance(Duration.ofSeconds(4));

    assertThat(scales.writes).isEmpty();
  }

  @Test
  void wakesTheWorkload_whenAThousandUnknownOnesWereReportedBefore() {
    for (int i = 0; i < 1_000; i++) {
      autoscaler.received(new ReportBatch("a", OptionalDouble.empty(), List.of(
          new ReportBatch.Entry(new RevisionId("shop", "unknown-" + i),
              TestValues.sample("a", 1, 1)))));
    }
    loop.advance(Duration.ofSeconds(4));

    report(1, 1);
    autoscaler.target(target(OptionalInt.of(10)));
    loop.run();

    assertThat(scales.writes).containsExactly(1);
  }

  @Test
  void keepsNothingOfAWorkloadThatIsGone_ifItsLastPodsGoLater() throws Exception {
    for (int i = 0; i < 500; i++) {
      var id = new RevisionId("shop", "r" + i);
      scales.set(id, 1);
      autoscaler
          .target(TestValues.scaledTarget(id, WORKLOAD, 0, OptionalInt.of(1), OptionalInt.of(20),
              0, Duration.ofSeconds(6), Duration.ofSeconds(300), OptionalInt.empty()));
      autoscaler.pods(id, 1);
      autoscaler.targetGone(id, WORKLOAD);
      autoscaler.pods(id, 0);
    }
    loop.run();

    for (var field : Autoscaler.class.getDeclaredFields()) {
      field.setAccessible(true);
      if (field.get(autoscaler) instanceof Map<?, ?> map && !field.getName().equals("members")) {
        assertThat(map).as(field.getName()).isEmpty();
      }
    }
  }

  @Test
  void saysWhatItDecidesAndWhy() {
    autoscaler.target(target(OptionalInt.of(10)));
    report(1, 1);
    batches(20, 52);

    assertThat(scales.replicas(WEB)).isEqualTo(3);
    assertThat(view().explanation()).isEqualTo("3 = ceil(52 in flight ÷ 20), stable window");
    assertThat(view().desired()).hasValue(3);
    assertThat(view().active().state()).isEqualTo(State.TRUE);
    assertThat(changes.getLast().replicas()).hasValue(3);
  }

  @Test
  void scalesToZeroWhenItIsIdleAndFromThereAgain() {
    autoscaler.target(target(OptionalInt.of(10)));
    report(1, 1);
    batches(10, 5);
    batches(16, 0);
    assertThat(scales.writes).containsExactly(1, 0);
    assertThat(events).containsExactly("ScaledUp", "ScaledToZero");

    report(1, 1);
    assertThat(scales.writes).containsExactly(1, 0, 1);
  }

  @Test
  void knowsSinceWhenAWorkloadIsNotAtZero_ifItScaledItItself() {
    autoscaler.target(target(OptionalInt.of(10)));
    assertThat(autoscaler.scaledFromZero(WEB)).isNull();
    report(1, 1);
    batches(10, 5);
    assertThat(autoscaler.scaledFromZero(WEB)).isEqualTo(Duration.ofSeconds(10));

    batches(16, 0);
    assertThat(scales.writes).containsExactly(1, 0);
    assertThat(autoscaler.scaledFromZero(WEB)).isNull();
  }

  @Test
  void ignoresWhatIsNotItsToScale() {
    report(1, 1);
    loop.advance(Duration.ofSeconds(10));

    assertThat(scales.writes).isEmpty();
  }

  @Test
  void knowsNothingOfThePastInANewTerm() {
    autoscaler.target(target(OptionalInt.of(10)));
    batches(10, 52);
    var stopped = autoscaler.stop();
    loop.run();
    assertThat(stopped).isCompleted();
    assertThat(autoscaler.views()).isEmpty();
    report(100, 1);
    scales.writes.clear();

    autoscaler.start();
    batches(5, 0);
    assertThat(scales.writes).isEmpty();
  }

  @Test
  void scalesUpButNotDown_whileTheActivatorsAreUnknown() {
    autoscaler.members(null);
    autoscaler.target(target(OptionalInt.of(10)));
    report(1, 1);
    batches(10, 52);
    assertThat(scales.replicas(WEB)).isEqualTo(3);
    batches(60, 1);
    assertThat(scales.replicas(WEB)).isEqualTo(3);
    assertThat(view().note()).contains("the endpoints of our own Service");
    assertThat(view().explanation()).startsWith("stays at 3 until every activator has reported")
        .endsWith("; otherwise 1 = ceil(1 in flight ÷ 20), stable window");

    autoscaler.members(Map.of("a", true));
    batches(2, 1);
    assertThat(scales.replicas(WEB)).isEqualTo(1);
  }

  @Test
  void writesNothing_whileItMayNotWrite() {
    autoscaler.target(target(OptionalInt.of(10)));
    leads = false;
    report(1, 1);
    batches(4, 5);
    assertThat(scales.writes).isEmpty();
    assertThat(view().note()).contains("may not write");

    leads = true;
    batches(2, 5);
    assertThat(scales.writes).containsExactly(1);
  }

  @Test
  void aDecreaseIsConfirmedByTheApiAndAnIncreaseIsNot() {
    autoscaler.target(target(OptionalInt.of(10)));
    confirmed = false;
    report(1, 1);
    batches(10, 52);
    batches(20, 0);
    assertThat(scales.writes).doesNotContain(0).contains(3);

    confirmed = true;
    batches(40, 0);
    assertThat(scales.replicas(WEB)).isZero();
  }

  @Test
  void preparesTheRemovalOfSomePods_andWaitsForThat() {
    autoscaler.target(target(OptionalInt.of(20)));
    batches(2, 100);
    assertThat(scales.replicas(WEB)).isEqualTo(5);
    assertThat(scales.preparations).isZero();
    scales.preparation = new CompletableFuture<>();

    batches(20, 30);
    assertThat(scales.preparations).isEqualTo(1);
    assertThat(scales.replicas(WEB)).isEqualTo(5);

    scales.preparation.complete(null);
    loop.run();
    assertThat(scales.replicas(WEB)).isLessThan(5).isPositive();
  }

  @Test
  void preparesNothing_whenAllPodsGo() {
    autoscaler.target(target(OptionalInt.of(20)));
    batches(3, 10);

    batches(60, 0);

    assertThat(scales.replicas(WEB)).isZero();
    assertThat(scales.preparations).isZero();
  }

  @Test
  void readsAgainAfterAConflictAndRespectsWhatAnotherWrote() {
    autoscaler.target(target(OptionalInt.of(10)));
    report(1, 1);
    batches(10, 52);
    scales.set(WEB, 6);
    batches(4, 70);

    // 4 are wanted, but 6 is what another set
    assertThat(scales.replicas(WEB)).isEqualTo(6);
    assertThat(events).contains("ScaledByOther");
    batches(10, 150);
    assertThat(scales.replicas(WEB)).isEqualTo(8);
  }

  @Test
  void wakesAWorkloadThatAnotherScaledToZeroUnderLoad() {
    autoscaler.target(target(OptionalInt.of(10)));
    report(1, 1);
    batches(10, 15);
    scales.set(WEB, 0);
    batches(2, 15);

    assertThat(scales.replicas(WEB)).isEqualTo(1);
  }

  @Test
  void staysAtZeroUntilTheNextRequest_whenTheLoadIsForgotten() {
    autoscaler.target(target(OptionalInt.of(10)));
    report(1, 1);
    batches(10, 15);

    autoscaler.forgetLoad(WEB);
    loop.run();
    scales.set(WEB, 0);
    batches(3, 0);
    assertThat(scales.replicas(WEB)).isZero();

    report(1, 1);
    batches(1, 1);
    assertThat(scales.replicas(WEB)).isEqualTo(1);
  }

  /** In embedded mode, where a new scaler keeps the pods that it finds. */
  @Test
  void staysAtZeroUntilTheNextRequest_whenTheLoadOfSeveralPodsIsForgotten() {
    autoscaler.target(WEB, WORKLOAD, ScalingAnnotations.settings(
        Map.of("autoscaling.knative.dev/target", "10"), 0,
        new Defaults(Duration.ofSeconds(6), 10)));
    batches(10, 20);
    assertThat(scales.replicas(WEB)).isEqualTo(3);

    autoscaler.forgetLoad(WEB);
    loop.run();
    scales.set(WEB, 0);
    batches(5, 0);
    assertThat(scales.replicas(WEB)).isZero();

    report(1, 1);
    batches(1, 1);
    assertThat(scales.replicas(WEB)).isEqualTo(1);
  }

  @Test
  void saysNothingOfAWorkloadBeforeItsScaleIsRead() {
    var read = new CompletableFuture<ScaleApiResult>();
    scales.laterRead = read;
    autoscaler.target(target(OptionalInt.of(10)));
    loop.advance(Duration.ofSeconds(1));
    assertThat(changes).isEmpty();
    assertThat(view()).isNull();

    // at once, and not as if all were well
    read.complete(new ScaleApiResult.Refused(Reason.NOT_FOUND, "there is none"));
    loop.run();
    assertThat(changes).singleElement().satisfies(
        first -> assertThat(first.trouble().reason()).isEqualTo("TargetNotFound"));
  }

  @Test
  void namesAMissingWorkloadAndTriesAgain() {
    var other = new RevisionId("shop", "other");
    autoscaler
        .target(TestValues.scaledTarget(other, WORKLOAD, 1, OptionalInt.of(2), OptionalInt.of(1), 0,
            Duration.ofSeconds(6), Duration.ofSeconds(300), OptionalInt.empty()));
    loop.advance(Duration.ofSeconds(5));
    assertThat(autoscaler.views().get(other).trouble().reason()).isEqualTo("TargetNotFound");
    assertThat(events).containsExactly("TargetNotFound");

    scales.set(other, 0);
    loop.advance(Duration.ofSeconds(31));
    assertThat(scales.replicas(other)).isEqualTo(1);
    loop.advance(Duration.ofSeconds(2));
    assertThat(autoscaler.views().get(other).trouble()).isNull();
  }

  @Test
  void itsOwnStatusIsNoReasonToTryAgain() {
    autoscaler.target(target(OptionalInt.of(10)));
    loop.run();
    scales.refuses = Reason.FORBIDDEN;
    report(1, 1);
    loop.advance(Duration.ofSeconds(5));
    scales.refuses = null;

    autoscaler
        .target(TestValues.scaledTarget(WEB, WORKLOAD, 0, OptionalInt.of(10), OptionalInt.of(20), 0,
            Duration.ofSeconds(6), Duration.ofSeconds(300), OptionalInt.of(1)));
    loop.run();
    assertThat(scales.writes).isEmpty();
    assertThat(view().trouble().reason()).isEqualTo("Forbidden");
  }

  @Test
  void triesAgainSoonWhileRequestsWaitForTheFirstPod() {
    autoscaler.target(target(OptionalInt.of(10)));
    scales.refuses = Reason.UNAVAILABLE;
    report(1, 1);
    loop.advance(Duration.ofMillis(650));
    scales.refuses = null;
    loop.advance(Duration.ofMillis(100));

    assertThat(scales.writes).containsExactly(1);
  }

  @Test
  void writesForOneWorkloadComeOneAfterTheOther() {
    autoscaler.target(target(OptionalInt.of(10)));
    scales.later = new CompletableFuture<>();
    report(1, 1);
    report(90, 90);
    batches(3, 90);
    assertThat(scales.writes).containsExactly(1);

    var answer = scales.later;
    scales.later = null;
    answer.complete(new ScaleApiResult.Found(1, 0, "2"));
    loop.run();
    assertThat(scales.writes).hasSize(2);
  }

  @Test
  void whatWasWrittenLastIsPublishedBeforeTheEnd() {
    autoscaler.target(target(OptionalInt.of(10)));
    loop.run();
    report(1, 1);
    loop.advance(Duration.ofSeconds(2));
    scales.later = new CompletableFuture<>();
    report(90, 90);
    loop.advance(Duration.ofSeconds(2));
    assertThat(scales.writes).containsExactly(1, 5);

    var stopped = autoscaler.stop();
    loop.run();
    scales.later.complete(new ScaleApiResult.Found(5, 0, "3"));
    loop.run();

    assertThat(stopped).isCompleted();
    assertThat(changes.getLast().desired()).hasValue(5);
    assertThat(changes.getLast().replicas()).hasValue(5);
    assertThat(autoscaler.views()).isEmpty();
    loop.advance(Duration.ofSeconds(10));
    assertThat(scales.writes).hasSize(2);
  }

  @Test
  void whatWasDecidedAndNotWrittenIsNotPublishedAtTheEnd() {
    autoscaler.target(target(OptionalInt.of(10)));
    report(1, 1);
    loop.advance(Duration.ofSeconds(2));
    leads = false;
    report(90, 90);
    loop.advance(Duration.ofSeconds(2));
    assertThat(view().desired()).hasValue(5);
    assertThat(scales.replicas(WEB)).isEqualTo(1);

    autoscaler.stop();
    loop.run();
    assertThat(changes.getLast().desired()).hasValue(1);
  }

  /** A leader that crashed before its write, or whose writes were refused. */
  @Test
  void scalesToTheMinimum_whenTheLeaderBeforePublishedItAndDidNotWriteIt() {
    autoscaler
        .target(TestValues.scaledTarget(WEB, WORKLOAD, 2, OptionalInt.of(10), OptionalInt.of(20), 0,
            Duration.ofSeconds(6), Duration.ofSeconds(300), OptionalInt.of(2)));
    batches(10, 0);
    assertThat(scales.replicas(WEB)).isEqualTo(2);
    assertThat(events).containsExactly("ScaledUp");

    // what another client sets later stands
    scales.set(WEB, 1);
    autoscaler.pods(WEB, 1);
    batches(400, 0);
    assertThat(scales.replicas(WEB)).isEqualTo(1);
    assertThat(events).contains("ScaledByOther");
  }

  private static ScaledServiceSpec withMin(int min, int max) {
    return TestValues.scaledTarget(WEB, WORKLOAD, min, OptionalInt.of(max), OptionalInt.of(20), 0,
        Duration.ofSeconds(6), Duration.ofSeconds(300), OptionalInt.empty());
  }

  /** As `kubectl scale ssvc` does, after somebody has scaled the Deployment itself. */
  @Test
  void appliesNewBounds_whateverAnotherClientHasSet() {
    autoscaler.target(withMin(1, 10));
    batches(5, 0);
    assertThat(scales.replicas(WEB)).isEqualTo(1);
    scales.set(WEB, 0);
    batches(10, 0);
    assertThat(events).contains("ScaledByOther");
    assertThat(scales.replicas(WEB)).isZero();

    autoscaler.target(withMin(2, 10));
    batches(5, 0);
    assertThat(scales.replicas(WEB)).isEqualTo(2);

    scales.set(WEB, 8);
    batches(10, 0);
    assertThat(scales.replicas(WEB)).isEqualTo(8);
    autoscaler.target(withMin(2, 4));
    batches(10, 0);
    assertThat(scales.replicas(WEB)).isEqualTo(2);
  }

  /** As a repeated server-side apply of a manifest with replicas does, since zero has no owner. */
  @Test
  void takesBackAfterAWindow_whatAnotherClientAddedToAnIdleWorkload() {
    autoscaler.target(target(OptionalInt.of(10)));
    batches(30, 0);
    assertThat(scales.replicas(WEB)).isZero();
    events.clear();

    scales.managerOfReplicas = "argocd-controller";
    scales.set(WEB, 1);
    autoscaler.pods(WEB, 1);
    batches(3, 0);
    assertThat(events).containsExactly("WokenByOther");
    assertThat(lastMessage).contains("from 0 to 1 by the client argocd-controller, and goes back");
    assertThat(view().note()).contains("was set by another client while it was idle");
    assertThat(scales.replicas(WEB)).isOne();

    batches(30, 0);
    assertThat(scales.replicas(WEB)).isZero();
  }

  @Test
  void publishesItsOwnDesiredReplicas_whenStoppedAfterAnotherClientScaled() {
    autoscaler.target(target(OptionalInt.of(10)));
    report(1, 1);
    batches(10, 52);
    scales.set(WEB, 6);
    batches(4, 52);
    assertThat(events).contains("ScaledByOther");

    autoscaler.stop();
    loop.run();
    assertThat(changes.getLast().desired()).hasValue(3);
  }

  @Test
  void aQuickStartIsPublishedOnce_andNothingMoreForASecond() {
    autoscaler.target(target(OptionalInt.of(10)));
    loop.advance(Duration.ofSeconds(10));
    changes.clear();

    report(1, 1);
    loop.advance(Duration.ofMillis(99));
    autoscaler.pods(WEB, 1);
    loop.advance(Duration.ofMillis(1));
    assertThat(changes).singleElement()
        .returns(ScalingView.ScaleState.RUNNING, ScalingView::state);
    autoscaler.pods(WEB, 0);
    loop.advance(Duration.ofMillis(900));
    assertThat(changes).hasSize(1);
    loop.advance(Duration.ofMillis(100));
    assertThat(changes).hasSize(2);
  }

  @Test
  void stoppingWaitsForTheWriteThatIsUnderWay() {
    autoscaler.target(target(OptionalInt.of(10)));
    scales.later = new CompletableFuture<>();
    report(1, 1);
    var stopped = autoscaler.stop();
    loop.run();
    assertThat(stopped).isNotDone();

    scales.later.complete(new ScaleApiResult.Found(1, 0, "2"));
    loop.run();
    assertThat(stopped).isCompleted();
  }

  /** An activator that lost the lease may lead again before the last write of its first term has ended. */
  @Test
  void publishesNothingOfAnEarlierTerm_onceTheNextHasBegun() {
    autoscaler.target(target(OptionalInt.of(10)));
    loop.advance(Duration.ofSeconds(2));
    var answer = new CompletableFuture<ScaleApiResult>();
    scales.later = answer;
    report(1, 1);
    var stopped = autoscaler.stop();
    loop.run();
    scales.later = null;

    autoscaler.start();
    loop.advance(Duration.ofSeconds(3));
    assertThat(changes.getLast().trouble()).isNull();
    answer.complete(new ScaleApiResult.Refused(Reason.UNAVAILABLE, "no answer"));
    loop.run();

    assertThat(stopped).isCompleted();
    assertThat(changes.getLast().trouble()).isNull();
  }

  @Test
  void withoutAMaximumOnlyTheFirstPodIsOurs() {
    autoscaler.target(target(OptionalInt.empty()));
    report(1, 1);
    batches(10, 500);
    assertThat(scales.writes).containsExactly(1);

    // when an HPA scales up and down, then nobody undoes it
    scales.set(WEB, 7);
    batches(10, 500);
    scales.set(WEB, 4);
    batches(10, 500);
    assertThat(scales.writes).containsExactly(1);
    batches(16, 0);
    assertThat(scales.writes).containsExactly(1, 0);
    assertThat(events).doesNotContain("ScaledByOther");
  }

  @Test
  void aRevisionThatWasMadeAgainIsScaledAgain() {
    autoscaler.target(WEB, WORKLOAD, ScalingAnnotations.settings(
        Map.of("autoscaling.knative.dev/min-scale", "2"), 0,
        new Defaults(Duration.ofSeconds(6), 10)));
    loop.advance(Duration.ofSeconds(1));
    assertThat(scales.replicas(WEB)).isEqualTo(2);

    scales.set(WEB, 0);
    loop.advance(Duration.ofSeconds(2));
    assertThat(scales.replicas(WEB)).isEqualTo(2);
  }

  /** Sums of such numbers are no longer exact, or none at all. */
  @ParameterizedTest
  @ValueSource(doubles = {1e17, 1e300, Double.MAX_VALUE})
  void scalesByTheLoad_afterReportsOfAbsurdNumbers(double absurd) {
    autoscaler.target(target(OptionalInt.of(20)));
    batches(5, 100);
    var frame = WireStatMessages.newBuilder();
    for (int i = 0; i < 3; i++) {
      frame.addMessages(WireStatMessage.newBuilder().setNamespace("shop").setName("web")
          .setStat(Stat.newBuilder().setPodName("a").setAverageConcurrentRequests(absurd)));
    }

    autoscaler.received(ReportBatch.decode(frame.build()));
    batches(30, 100);

    assertThat(scales.replicas(WEB)).isEqualTo(5);
  }

  /** Another leader, after this one crashed. */
  private void changeLeader(OptionalInt max) {
    leads = false;
    next.members(Map.of("a", true));
    next.target(TestValues.scaledTarget(WEB, WORKLOAD, 0, max, OptionalInt.of(20), 0,
        Duration.ofSeconds(6), Duration.ofSeconds(300), changes.getLast().desired()));
    next.pods(WEB, scales.replicas(WEB));
    next.start();
  }

  /** As {@link #batches}, for the next leader. */
  private void laterBatches(int seconds, double concurrency) {
    for (int i = 0; i < seconds; i++) {
      loop.advance(Duration.ofSeconds(1));
      next.received(new ReportBatch("a", OptionalDouble.of(1_000), concurrency == 0
          ? List.of()
          : List.of(new ReportBatch.Entry(WEB, TestValues.sample("a", concurrency, 1)))));
      next.pods(WEB, scales.replicas(WEB));
      loop.run();
    }
  }

  @Test
  void scalesByTheLoad_whenTheLeaderBeforeCouldNotWriteWhatItDecided() {
    autoscaler.target(target(OptionalInt.of(20)));
    batches(10, 15);
    scales.refuses = Reason.FORBIDDEN;
    batches(20, 100);
    assertThat(scales.replicas(WEB)).isEqualTo(1);
    assertThat(view().desired()).hasValue(5);

    scales.refuses = null;
    changeLeader(OptionalInt.of(20));
    // given that the reports come before the scale is read
    var read = new CompletableFuture<ScaleApiResult>();
    scales.laterRead = read;
    laterBatches(1, 100);
    scales.laterRead = null;
    read.complete(new ScaleApiResult.Found(1, 1, scales.version(WEB)));
    laterBatches(60, 100);

    assertThat(scales.replicas(WEB)).isEqualTo(5);
  }

  /** Beside an HPA, which has more than one pod. */
  @Test
  void scalesToZero_whenTheLeaderBeforeDecidedSoAndDidNotWriteIt() {
    autoscaler.target(target(OptionalInt.empty()));
    report(1, 1);
    scales.set(WEB, 3);
    scales.mayScaleToZero = new CompletableFuture<>();
    batches(30, 0);
    assertThat(view().desired()).hasValue(0);
    assertThat(scales.replicas(WEB)).isEqualTo(3);

    scales.mayScaleToZero = CompletableFuture.completedFuture(true);
    changeLeader(OptionalInt.empty());
    laterBatches(60, 0);

    assertThat(scales.replicas(WEB)).isZero();
  }

  /** All that an activator has is reported at once when it connects again. Each revision once took what all take. */
  @Test
  void takesThousandsOfReportsAtOnce_withoutAnAllocationForEachPair() {
    int count = 4_000;
    batch("a", 1);
    var entries = IntStream.range(0, count).mapToObj(i -> new ReportBatch.Entry(
        new RevisionId("shop", "w" + i), TestValues.sample("a", 1, 1))).toList();
    var thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = thread.getCurrentThreadAllocatedBytes();

    autoscaler.received(new ReportBatch("a", OptionalDouble.empty(), entries));
    loop.run();

    long each = (thread.getCurrentThreadAllocatedBytes() - before) / count;
    assertThat(each).as("bytes for each revision").isLessThan(10_000);
  }

  /** As by `kubectl replace --force`. */
  @Test
  void keepsItsPods_whenTheScaledServiceIsMadeAgainUnderLoad() {
    twoAreBusy();
    int before = scales.replicas(WEB);

    autoscaler.targetGone(WEB, WORKLOAD);
    autoscaler.target(target(OptionalInt.of(20)));
    autoscaler.pods(WEB, before);
    loop.advance(Duration.ofMillis(900));
    IntStream.range(0, 30).forEach(_ -> second(100, 10));

    assertThat(scales.writes).isEmpty();
  }

  @ParameterizedTest(name = "another client set {0}")
  @ValueSource(ints = {2, 8})
  void keepsWhatAnotherClientSet_underTheNextLeader(int set) {
    autoscaler.target(target(OptionalInt.of(20)));
    batches(10, 100);
    scales.set(WEB, set);
    autoscaler.pods(WEB, set);
    batches(10, 100);
    assertThat(events).contains("ScaledByOther");
    assertThat(scales.replicas(WEB)).isEqualTo(set);

    changeLeader(OptionalInt.of(20));
    laterBatches(60, 100);
    assertThat(scales.replicas(WEB)).isEqualTo(set);

    // until the load is a reason
    laterBatches(60, 180);
    assertThat(scales.replicas(WEB)).isEqualTo(9);
  }

  @ParameterizedTest
  @EnumSource(names = {"CONFLICT", "FORBIDDEN", "INVALID"})
  void keepsWhatAnotherClientSet_ifItsOwnWriteOfThatNumberWasRefused(Reason reason) {
    autoscaler.target(target(OptionalInt.of(20)));
    batches(20, 100);
    scales.refuses = reason;
    batches(20, 52);
    assertThat(view().desired()).hasValue(3);
    assertThat(scales.replicas(WEB)).isEqualTo(5);
    batches(30, 100);
    scales.refuses = null;
    scales.writes.clear();

    scales.set(WEB, 3);
    autoscaler.pods(WEB, 3);
    batches(30, 100);

    assertThat(scales.writes).isEmpty();
  }

  /** In 0 to 1, or else the pod would stay for another client's. */
  @Test
  void scalesToZero_whenTheLeaderBeforeCrashedWithinASecondOfWakingIt() {
    autoscaler.target(target(OptionalInt.empty()));
    loop.advance(Duration.ofSeconds(10));
    report(1, 1);
    loop.advance(Duration.ofMillis(500));
    assertThat(scales.replicas(WEB)).isOne();

    changeLeader(OptionalInt.empty());
    laterBatches(60, 0);

    assertThat(scales.replicas(WEB)).isZero();
  }

  @Test
  void scalesByTheLoad_onceAnHpaIsGoneThatHasJustScaled() {
    autoscaler.target(target(OptionalInt.empty()));
    batches(10, 52);
    assertThat(scales.replicas(WEB)).isOne();
    // given pods of the HPA that are not ready yet, so that nothing tells of them
    scales.set(WEB, 7);

    autoscaler.target(target(OptionalInt.of(20)));
    loop.run();
    batches(30, 52);

    assertThat(scales.replicas(WEB)).isEqualTo(3);
    assertThat(events).doesNotContain("ScaledByOther");
  }
}
