package dev.activator.standalone.autoscaler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScalingListener;
import dev.activator.revision.ScalingView;
import dev.activator.kube.LeadershipCheck;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.policy.ScaledServiceSpec;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How soon a workload is scaled after its scale could not be read, written or confirmed. */
class RefusedScalesTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaleTargetRef WORKLOAD = new ScaleTargetRef("apps/v1", "Deployment",
      "web");
  /** After which the scale is read again if nothing happens. */
  private static final Duration REREAD = Duration.ofSeconds(300);
  private static final Duration OUTAGE = Duration.ofSeconds(45);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakeScales scales = new FakeScales();
  private final List<ScalingView> views = new ArrayList<>();
  private boolean confirmed = true;
  private final Autoscaler autoscaler = new Autoscaler(loop, scales, new LeadershipCheck() {
    @Override
    public boolean mayWrite() {
      return true;
    }

    @Override
    public CompletableFuture<Boolean> confirmed() {
      return CompletableFuture.completedFuture(confirmed);
    }
  }, new ScalingListener() {
    @Override
    public void changed(ScalingView view) {
      views.add(view);
    }
  }, new Random(1));

  @BeforeEach
  void start() {
    scales.set(WEB, 0);
    autoscaler.members(Map.of("a", true));
    autoscaler.start();
    autoscaler.target(target(WEB));
    loop.run();
  }

  private static ScaledServiceSpec target(RevisionId id) {
    return TestValues.scaledTarget(id, WORKLOAD, 0, OptionalInt.of(20), OptionalInt.of(20), 0,
        Duration.ofSeconds(6), Duration.ofSeconds(300), OptionalInt.empty());
  }

  private void second(RevisionId id, double concurrency) {
    loop.advance(Duration.ofSeconds(1));
    report(id, concurrency);
  }

  private void report(RevisionId id, double concurrency) {
    autoscaler.received(new ReportBatch("a", OptionalDouble.of(1_000), concurrency == 0
        ? List.of()
        : List.of(new ReportBatch.Entry(id, TestValues.sample("a", concurrency, 1)))));
    loop.run();
  }

  /** Regular batches, one a second; pods follow the replicas at once. */
  private void seconds(int seconds, double concurrency) {
    for (int i = 0; i < seconds; i++) {
      seconds(1, concurrency, scales.replicas(WEB));
    }
  }

  private void seconds(int seconds, double concurrency, int pods) {
    for (int i = 0; i < seconds; i++) {
      second(WEB, concurrency);
      autoscaler.pods(WEB, pods);
      loop.run();
    }
  }

  /** Requests wait from now on; the time until the next write. */
  private Duration untilWritten(double concurrency) {
    var begin = loop.elapsed();
    int before = scales.writes.size();
    report(WEB, concurrency);
    while (scales.writes.size() == before) {
      assertThat(loop.elapsed().minus(begin)).isLessThan(Duration.ofMinutes(10));
      var step = Duration.ofMillis(100);
      loop.advance(step);
      if (loop.elapsed().minus(begin).toMillis() % 1_000 == 0) {
        report(WEB, concurrency);
      }
    }
    return loop.elapsed().minus(begin);
  }

  private void readsFail(Duration length, Reason reason) {
    scales.refusesReads = reason;
    seconds((int) length.toSeconds(), 0);
    scales.refusesReads = null;
  }

  @Test
  void readsAgainBeforeItWrites_afterAReadThatThrew() {
    seconds(10, 20);
    // given a bug in the read before a write of more replicas
    scales.breaksReads = true;
    assertThatThrownBy(() -> seconds(10, 300)).hasMessageContaining("a failure");
    scales.breaksReads = false;

    // then another client's replicas are seen before the next write
    int reads = scales.reads;
    untilWritten(300);
    assertThat(scales.reads).isGreaterThan(reads);
  }

  @ParameterizedTest
  @EnumSource(value = Reason.class, names = "CONFLICT", mode = EnumSource.Mode.EXCLUDE)
  void wakesWithinASecond_whenARequestComesInTheRetryPauseOfAnOutage(Reason reason) {
    // given an outage in which the scale is due to be read again
    seconds((int) REREAD.minusSeconds(5).toSeconds(), 0);
    readsFail(Duration.ofSeconds(5).plus(OUTAGE), reason);

    assertThat(untilWritten(1)).isLessThanOrEqualTo(Duration.ofSeconds(1));
  }

  private static ScaledServiceSpec refusing(String refusal) {
    var base = target(WEB);
    return new ScaledServiceSpec(base.id(), base.workload(), base.minReplicas(),
        base.maxReplicas(), base.otherGoesToZero(), base.load(), base.containerConcurrency(),
        base.window(), base.requestTimeout(), base.lastDesired(), base.warmTimes(),
        base.conflicts(), refusal);
  }

  @Test
  void startsNoPodForRequestsThatAreRefused_andOneWhenTheyAreNotAnyMore() {
    autoscaler.target(refusing("there is no Service shop/web"));
    seconds(60, 3);
    assertThat(scales.writes).isEmpty();

    autoscaler.target(target(WEB));
    assertThat(untilWritten(1)).isLessThanOrEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void aTroubleStays_untilTheReadThatAChangeCausesIsAnswered() {
    // given a workload that is missing, whose status others read
    scales.remove(WEB);
    seconds((int) REREAD.toSeconds(), 0, 0);
    assertThat(views.getLast().trouble()).isNotNull();
    int before = views.size();

    // when the trouble comes back as the reason why requests are refused, and the read takes a while
    scales.laterRead = new CompletableFuture<>();
    autoscaler.target(refusing("Deployment web not found"));
    seconds(3, 0, 0);

    assertThat(views.subList(before, views.size()))
        .allSatisfy(view -> assertThat(view.trouble()).isNotNull());
    scales.laterRead.complete(new ScaleApiResult.Found(0, 0, "1"));
    seconds(3, 0, 0);
    assertThat(views.getLast().trouble()).isNull();
  }

  @Test
  void startsNoMorePodsForRequestsThatAreRefused_andRemovesThoseThatRunWhenTheyEnd() {
    seconds(10, 20);
    assertThat(scales.replicas(WEB)).isEqualTo(1);

    autoscaler.target(refusing("there is no Service shop/web"));
    seconds(60, 200);
    assertThat(scales.replicas(WEB)).isEqualTo(1);
    seconds(60, 0);
    assertThat(scales.replicas(WEB)).isZero();
  }

  @Test
  void forgetsFailures_afterASuccessfulRead() {
    // given six short outages, each followed by a successful read, and one more
    for (int i = 0; i < 6; i++) {
      seconds((int) REREAD.toSeconds(), 0);
      readsFail(Duration.ofSeconds(200), Reason.UNAVAILABLE);
    }
    seconds(400, 0);
    int before = scales.reads;
    scales.refusesReads = Reason.UNAVAILABLE;
    while (scales.reads == before) {
      seconds(1, 0);
    }
    scales.refusesReads = null;

    // then the next read is one to two seconds later, even without a request
    int refused = scales.reads;
    seconds(3, 0);
    assertThat(scales.reads).isGreaterThan(refused);
  }

  @Test
  void scalesUpWithinATick_whenConfirmationsOfAScaleDownFailed() {
    // given five pods without load, and a lease that cannot be read to confirm that they may go
    seconds(30, 100);
    assertThat(scales.replicas(WEB)).isEqualTo(5);
    confirmed = false;
    seconds((int) OUTAGE.plusSeconds(10).toSeconds(), 0);
    assertThat(scales.replicas(WEB)).isEqualTo(5);
    confirmed = true;

    assertThat(untilWritten(300)).isLessThanOrEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void readsRarelyInAnOutage_whileAllPodsThatItMayHaveAreReady() {
    // given a load for which more than the maximum would be needed
    seconds(600, 1_000);
    assertThat(scales.replicas(WEB)).isEqualTo(20);

    // when the scale cannot be read for ten minutes
    int before = scales.reads;
    readsFailUnder(1_000, Duration.ofMinutes(10));

    // then it is tried again after 1 s at first, and 30 s at last
    assertThat(scales.reads - before).isBetween(5, 30);
  }

  private void readsFailUnder(double concurrency, Duration length) {
    scales.refusesReads = Reason.UNAVAILABLE;
    seconds((int) length.toSeconds(), concurrency);
    scales.refusesReads = null;
  }

  @Test
  void confirmationsAreRetried_soThatAScaleDownHappensAfterTheOutage() {
    seconds(30, 100);
    confirmed = false;
    seconds((int) OUTAGE.toSeconds(), 0);
    confirmed = true;
    seconds(40, 0);

    assertThat(scales.replicas(WEB)).isZero();
  }

  @Test
  void wakesWithinASecond_afterTheWorkloadWasReplaced() {
    // given a Deployment that is missing while its scale is due to be read, and back then
    scales.remove(WEB);
    for (int i = 0; i < REREAD.toSeconds(); i++) {
      second(WEB, 0);
    }
    scales.set(WEB, 0);

    assertThat(untilWritten(1)).isLessThanOrEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void wakesWithinASecond_whenTheWorkloadIsReplacedWhileRequestsWait() {
    scales.remove(WEB);
    for (int i = 0; i < 20; i++) {
      second(WEB, 1);
    }
    scales.set(WEB, 0);

    assertThat(untilWritten(1)).isLessThanOrEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void refusedWritesBackOff_evenThoughReadsSucceedAndRequestsWait() {
    scales.refuses = Reason.FORBIDDEN;
    int before = scales.reads;

    for (int i = 0; i < 300; i++) {
      second(WEB, 1);
    }

    // 1 s doubled to 30 s: 5 in the first half minute, then two or three a minute
    assertThat(scales.reads - before).isBetween(10, 20);
  }

  @Test
  void waitsAsLongAsRetryAfterSays_evenIfRequestsWait() {
    scales.retryAfter = Duration.ofSeconds(7);
    scales.refusesReads = Reason.UNAVAILABLE;
    loop.advance(Duration.ofSeconds(2));
    int before = scales.reads;
    // given that another client has written, so that the scale has to be read
    scales.set(WEB, 0);
    report(WEB, 1);
    assertThat(scales.reads).isEqualTo(before + 1);

    for (int i = 0; i < 6; i++) {
      second(WEB, 1);
    }
    assertThat(scales.reads).isEqualTo(before + 1);
    scales.refusesReads = null;
    assertThat(untilWritten(1)).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(5));
  }

  /** As many workloads as a leader may begin with; answers come when the test wants. */
  private List<RevisionId> manyWorkloads(int count) {
    var ids = new ArrayList<RevisionId>();
    for (int i = 0; i < count; i++) {
      var id = new RevisionId("shop", "w" + i);
      ids.add(id);
      scales.set(id, 0);
      autoscaler.target(target(id));
    }
    return ids;
  }

  @Test
  void readsAtMostFiftyScalesAtOnce_andFirstThoseThatRequestsWaitFor() {
    scales.laterReads = new ArrayList<>();
    var ids = manyWorkloads(200);
    loop.run();
    assertThat(scales.laterReads).hasSize(50);

    // when a request comes for the last workload, and one read is answered
    report(ids.getLast(), 1);
    scales.laterReads.removeFirst().run();
    loop.run();

    assertThat(scales.lastRead).isEqualTo(ids.getLast());
    while (!scales.laterReads.isEmpty()) {
      assertThat(scales.laterReads.size()).isLessThanOrEqualTo(50);
      scales.laterReads.removeFirst().run();
      loop.run();
    }
    assertThat(scales.writes).containsExactly(1);
  }

  @Test
  void readsGoOn_afterSomeFailedWithABug() {
    scales.breaksReads = true;
    for (int i = 0; i < 60; i++) {
      var id = new RevisionId("shop", "b" + i);
      autoscaler.target(target(id));
      assertThatThrownBy(() -> loop.run()).isInstanceOf(IllegalStateException.class);
      autoscaler.targetGone(id, WORKLOAD);
      loop.run();
    }
    scales.breaksReads = false;

    assertThat(untilWritten(1)).isLessThanOrEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void aReadThatWaitedForItsTurnIsRepeated_afterItFailedWithABug() {
    scales.laterReads = new ArrayList<>();
    var last = manyWorkloads(51).getLast();
    loop.run();
    assertThat(scales.laterReads).hasSize(50);

    scales.breaksReads = true;
    scales.laterReads.removeFirst().run();
    try {
      loop.run();
    } catch (IllegalStateException e) {
      // As a loop of the product would log.
    }
    scales.breaksReads = false;
    loop.advance(Duration.ofSeconds(3));

    assertThat(scales.lastRead).isEqualTo(last);
  }

  @Test
  void endsAtOnce_whenItIsStoppedWhileReadsWaitForTheirTurn() {
    scales.laterReads = new ArrayList<>();
    manyWorkloads(200);
    loop.run();
    int begun = scales.reads;

    var stopped = autoscaler.stop();
    loop.run();
    List.copyOf(scales.laterReads).forEach(Runnable::run);
    loop.run();

    assertThat(stopped).isCompleted();
    assertThat(scales.reads).isEqualTo(begun);
  }

  @Test
  void rereadsAreSpreadOverTheirPeriod() {
    manyWorkloads(300);
    loop.run();

    // when nothing happens for ten minutes, the most reads of one second, after the first
    int most = 0;
    int all = scales.reads;
    int first = all;
    for (int i = 0; i < 600; i++) {
      loop.advance(Duration.ofSeconds(1));
      most = Math.max(most, scales.reads - all);
      all = scales.reads;
    }

    assertThat(all - first).isBetween(2 * 300, 4 * 300);
    assertThat(most).isLessThan(20);
  }

  /** As an admission webhook does that limits what a namespace may have. */
  @Test
  void doesNotWriteAgainAndAgain_whenTheApiStoresAnotherNumber() {
    scales.stores = _ -> 2;

    seconds(30, 100);

    assertThat(scales.writes).hasSizeBetween(1, 30);
    assertThat(scales.replicas(WEB)).isEqualTo(2);
  }
}
