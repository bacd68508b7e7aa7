package dev.activator.ext.autoscalerfallback;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.FakeLease;
import dev.activator.standalone.autoscaler.FakeScales;
import dev.activator.kube.LeaderElection;
import dev.activator.revision.ScalingListener;
import dev.activator.kube.policy.LeaderElectionState.Times;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AutoscalerFallbackTest {
  private static final RevisionId WEB = new RevisionId("shop", "web-00001");
  private static final RevisionId API = new RevisionId("shop", "api-00001");
  // One that stands still shows less time than the loop's clock, and so does not count.
  private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-11-22T12:00:00Z"),
      ZoneOffset.UTC);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakeScales scales = new FakeScales();
  private final FakeLease lease = new FakeLease();
  private final List<String> events = new ArrayList<>();
  private final TestRevisions revisions = new TestRevisions(loop, Revision.of(WEB, 1),
      Revision.of(API, 1));
  private final AutoscalerFallback rescue = activator("a");

  private AutoscalerFallback activator(String name) {
    return Quiescence
        .watch(new AutoscalerFallback(revisions.live, loop, scales,
            listener -> new LeaderElection(name, loop, lease, listener,
                CLOCK, new Random(1), Times.DEFAULT),
            new ScalingListener() {
              @Override
              public void happened(RevisionId id, boolean warning, String reason, String message) {
                events.add(name + " " + reason + " " + id.name());
              }
            }));
  }

  @BeforeEach
  void start() {
    scales.set(WEB, 0);
    scales.set(API, 0);
    rescue.start();
    rescue.linked(true);
    loop.run();
  }

  private void waitFor(AutoscalerFallback one, RevisionId id, int seconds) {
    for (int i = 0; i < seconds; i++) {
      one.onRequestWaits(id);
      loop.advance(Duration.ofSeconds(1));
    }
  }

  @Test
  void startsOnePodWhenTheLinkHasBeenDownForFifteenSeconds() {
    rescue.linked(false);
    waitFor(rescue, WEB, 14);
    assertThat(scales.replicas(WEB)).isZero();

    waitFor(rescue, WEB, 5);
    assertThat(scales.replicas(WEB)).isEqualTo(1);
    assertThat(events).containsExactly("a Rescued web-00001");
  }

  @Test
  void doesNothingWhileTheLinkIsUpOrNoRequestWaits() {
    waitFor(rescue, WEB, 60);
    rescue.linked(false);
    loop.advance(Duration.ofSeconds(60));

    assertThat(scales.writes).isEmpty();
    assertThat(lease.lease).isNull();
  }

  @Test
  void actsOnceInAnOutage() {
    rescue.linked(false);
    waitFor(rescue, WEB, 20);
    scales.set(WEB, 0);
    waitFor(rescue, WEB, 60);
    assertThat(scales.writes).containsExactly(1);

    rescue.linked(true);
    loop.advance(Duration.ofSeconds(1));
    rescue.linked(false);
    waitFor(rescue, WEB, 20);
    assertThat(scales.writes).containsExactly(1, 1);
  }

  @Test
  void leavesWhatHasPodsAlone() {
    scales.set(WEB, 3);
    rescue.linked(false);
    waitFor(rescue, WEB, 60);

    assertThat(scales.writes).isEmpty();
    assertThat(events).isEmpty();
  }

  @Test
  void startsManyRevisionsAtOnce() {
    var ids = IntStream.range(0, 40).mapToObj(i -> new RevisionId("shop", "w" + i)).toList();
    ids.forEach(id -> scales.set(revisions.begun(id).id(), 0));
    rescue.linked(false);
    for (int i = 0; i < 20; i++) {
      ids.forEach(rescue::onRequestWaits);
      loop.advance(Duration.ofSeconds(1));
    }

    assertThat(scales.writes).hasSize(40);
  }

  @Test
  void startsNoDeletedRevision_thoughItsRequestsHaveWaited() {
    rescue.linked(false);
    waitFor(rescue, WEB, 14);

    revisions.remove(WEB);
    waitFor(rescue, WEB, 10);

    assertThat(scales.writes).isEmpty();
  }

  @Test
  void activatorsTakeTurns() {
    var other = activator("b");
    other.start();
    rescue.linked(false);
    for (int i = 0; i < 40; i++) {
      rescue.onRequestWaits(WEB);
      other.onRequestWaits(API);
      loop.advance(Duration.ofSeconds(1));
    }

    assertThat(events).containsExactlyInAnyOrder("a Rescued web-00001", "b Rescued api-00001");
    assertThat(lease.lease.holder()).isEmpty();
  }

  @Test
  void saysOnceThatItMayNot() {
    scales.refuses = Reason.FORBIDDEN;
    rescue.linked(false);
    waitFor(rescue, WEB, 60);

    assertThat(events).containsExactly("a RescueFailed web-00001");
  }

  @Test
  void triesAgainAfterAConflict() {
    scales.refuses = Reason.CONFLICT;
    rescue.linked(false);
    waitFor(rescue, WEB, 20);
    scales.refuses = null;
    waitFor(rescue, WEB, 2);

    assertThat(scales.replicas(WEB)).isEqualTo(1);
  }

  @Test
  void startsTheOthers_whenTheApiFailsForOne() {
    for (var failing : List.of(WEB, API)) {
      scales.set(WEB, 0);
      scales.set(API, 0);
      rescue.linked(true);
      loop.advance(Duration.ofSeconds(1));
      scales.refusesReads = Reason.UNAVAILABLE;
      scales.refusesOnly = failing;
      rescue.linked(false);
      for (int i = 0; i < 30; i++) {
        rescue.onRequestWaits(WEB);
        rescue.onRequestWaits(API);
        loop.advance(Duration.ofSeconds(1));
      }

      assertThat(scales.replicas(failing)).isZero();
      assertThat(scales.replicas(failing.equals(WEB) ? API : WEB)).isEqualTo(1);
    }
  }

  @Test
  void stoppingReleasesTheLease() {
    scales.refuses = Reason.UNAVAILABLE;
    rescue.linked(false);
    waitFor(rescue, WEB, 20);
    assertThat(lease.lease.holder()).isEqualTo("a");

    var stopped = rescue.stop();
    loop.run();
    assertThat(stopped).isCompleted();
    assertThat(lease.lease.holder()).isEmpty();
  }

  /** The API server was slow, and requests came and went. */
  @Test
  void keepsTheLeaseOfItsNewTerm_whenTheReleaseOfTheLastOneComesLate() {
    rescue.linked(false);
    scales.refuses = Reason.UNAVAILABLE;
    waitFor(rescue, WEB, 20);
    assertThat(lease.lease.holder()).isEqualTo("a");
    var way = new CompletableFuture<Void>();
    lease.way = way;
    loop.advance(Duration.ofSeconds(6));
    lease.way = CompletableFuture.completedFuture(null);
    waitFor(rescue, WEB, 5);

    way.complete(null);
    waitFor(rescue, WEB, 1);

    assertThat(lease.lease.holder()).isEqualTo("a");
  }
}
