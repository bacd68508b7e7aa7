package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.throttle.ThrottleView.SharedPermitsView;
import dev.activator.ext.lending.policy.PodSharding;
import dev.activator.testing.TestRevisions;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.testing.Make;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Activators and links that come and go while permits are lent. */
class LendingTransitionsTest extends LendingScene {
  /** Three activators, one of which is not ready for a moment, and a pod that passes from it to another. */
  private final class Moving {
    final Destination pod = pods(1).getFirst();
    final List<String> without;
    final SimulatedActivator owner;
    final SimulatedActivator next;
    final SimulatedActivator third;

    Moving() {
      IntStream.range(0, 3).forEach(_ -> start());
      known();
      connected();
      pods(List.of(pod));
      owner = ownerOf(pod);
      without = sorted().stream().filter(it -> !it.equals(owner.id().address())).toList();
      var address = new PodSharding(without, true, List.of()).owner(pod);
      next = all.stream().filter(it -> it.id().address().equals(address)).findFirst().orElseThrow();
      third = all.stream().filter(it -> it != owner && it != next).findFirst().orElseThrow();
    }

    void learns(SimulatedActivator activator, List<String> listed) {
      activator.listed(listed);
      pass(100);
    }
  }

  @Test
  void borrowsNoMoreOfAPod_thanItHasReportedToTheNextOwner() {
    var moving = new Moving();
    moving.learns(moving.next, moving.without);
    moving.learns(moving.third, moving.without);
    moving.learns(moving.third, sorted());

    requests(moving.third, 1);
    moving.learns(moving.owner, moving.without);
    requests(moving.next, 1);

    assertThat(running(moving.pod)).isOne();
    known();
  }

  @Test
  void borrowsNothingOfAPod_whoseNextOwnerItAnsweredBeforeItHadTheRevision() {
    var moving = new Moving();
    moving.third.revisionGone();
    pass(100);
    moving.learns(moving.next, moving.without);
    moving.third.revision(revision);
    moving.third.pods(List.of(moving.pod));
    moving.learns(moving.third, sorted());

    requests(moving.third, 1);
    moving.learns(moving.owner, moving.without);
    requests(moving.next, 1);

    assertThat(running(moving.pod)).isOne();
    known();
  }

  @Test
  void lendsNothing_toOneThatDividesThePodsByOtherMembers() {
    var moving = new Moving();
    requests(moving.owner, 1);
    requests(moving.next, 2);
    moving.learns(moving.next, sorted().stream()
        .filter(it -> !it.equals(moving.third.id().address())).toList());

    moving.owner.answerOne();
    pass(100);
    requests(moving.owner, 1);

    assertThat(moving.owner.running(moving.pod)).isOne();
    known();
  }

  @Test
  void dividesPodsByKnativesRule_whereOneDoesThatCannotReachAThird() {
    IntStream.range(0, 3).forEach(_ -> start());
    var cut = links.stream()
        .filter(it -> it.isBetween(all.getFirst().id(), all.getLast().id())).findFirst()
        .orElseThrow();
    cut.allow(false);
    known();
    connected();
    pass(60_000);
    pods(pods(6));

    all.forEach(it -> requests(it, 2));
    assertThat(pods(6)).allSatisfy(pod -> assertThat(running(pod)).isOne());

    // when they reach each other
    cut.allow(true);
    connected();
    pass(5_000);
    assertThat(all).allSatisfy(
        it -> assertThat(it.view().sharing()).isEqualTo(SharedPermitsView.Sharing.OWNED));
    all.forEach(it -> it.hold(false));
    pass(5_000);
    all.forEach(it -> it.hold(true));
    requests(all.getFirst(), 6);
    assertThat(all.getFirst().queued()).isZero();
  }

  @Test
  void acquiresPodsOfANewRevision_afterAnActivatorCrashed() {
    var one = start();
    var other = start();
    known();
    connected();
    links.getFirst().cut();
    pass(5_000);
    other.crash();
    all.remove(other);
    links.clear();
    one.activators(Set.of(one.id().address()));
    one.revisionGone();
    pass(10);
    one.setRevision(revision);
    one.listed(List.of(one.id().address()));
    one.pods(pods(1));
    one.request();

    pass(15 * 60_000);

    assertThat(one.queued()).isZero();
  }

  @Test
  void keepsItsPods_whenASecondActivatorIsListed() {
    var one = start();
    known();
    pods(pods(2));
    start();

    // A revision learns its addresses before the others are known.
    one.listed(sorted());
    pass(1);
    one.activators(addresses());
    pass(1);
    requests(one, 2);

    assertThat(one.queued()).isZero();
  }

  @Test
  void usesItsSlice_whereAQueueProxyKeepsTheLimit_untilOthersAreLinked() {
    revision = revision(1, false);
    var one = start();
    start();
    known();
    pods(pods(1));

    all.forEach(it -> requests(it, 1));

    assertThat(one.queued()).isZero();
    assertThat(all.get(1).queued()).isZero();
  }

  @Test
  void usesItsSlice_whereAQueueProxyKeepsTheLimit_whileALinkIsCut() {
    revision = revision(1, false);
    linked(2);
    pods(pods(1));
    links.getFirst().cut();
    pass(5_000);

    all.forEach(it -> requests(it, 1));

    assertThat(all).allSatisfy(it -> assertThat(it.queued()).isZero());
    all.forEach(it -> it.hold(false));
    connected();
    assertThat(all.stream().filter(it -> owns(it, pods(1).getFirst()))).hasSize(1);
  }

  @Test
  void startsNothingOnABorrowedPermit_onceItsLeaseIsOver() {
    twoShareOnePod();
    requests(borrower, 3);
    links.getFirst().cut();

    pass(6_000);
    borrower.answerOne();
    pass(100);
    assertThat(borrower.running(pod)).as("within the lease").isOne();
    assertThat(borrower.queued()).isOne();

    pass(6_000);
    borrower.answerOne();
    pass(100);
    assertThat(borrower.running(pod)).as("after it").isZero();
    assertThat(borrower.queued()).isOne();
    connected();
    assertThat(borrower.running(pod)).as("linked again").isOne();
  }

  /** The lender's beats come, and answer an old one. */
  @ParameterizedTest
  @EnumSource(names = {"NONE", "LEASE_FROM_ANSWER"})
  void startsNothingOnABorrowedPermit_onceItsLenderReceivesNothing(Faults fault) {
    faults = fault;
    revision = revision(1, true, Duration.ofSeconds(1), Map.of());
    twoShareOnePod();
    all.forEach(it -> it.hold(false));
    requests(borrower, 3);
    links.getFirst().stall(borrower, Duration.ofSeconds(100));

    int most = 0;
    int served = 0;
    for (int i = 0; i < 18_000; i++) {
      borrower.request();
      if (i > 16_000) {
        owner.request();
      }
      pass(5);
      most = Math.max(most, running(pod));
      served += owner.running(pod);
    }

    assertThat(served).as("the pod is used again").isPositive();
    assertThat(most).isEqualTo(fault == Faults.NONE ? 1 : 2);
  }

  @Test
  void countsALentPermit_untilTheBorrowersLeaseAndItsRequestsAreOver() {
    twoShareOnePod();
    requests(borrower, 1);
    links.getFirst().cut();
    int longestMillis = (15 + 60 + 5 * 60 * 9 / 8) * 1_000;
    pass(longestMillis - 10_000);
    requests(owner, 1);
    assertThat(owner.running(pod)).as("while the borrower may still run one").isZero();

    pass(15_000);

    assertThat(owner.running(pod)).as("after that").isOne();
  }

  /** The link was lost long ago, but the one that drains serves and lives. */
  @Test
  void takesNoPodOfAnActivatorThatDrains_whileItsRequestsMayRun() {
    var one = start();
    var other = start();
    known();
    connected();
    pods(pods(8));
    var its = pods(8).stream().filter(pod -> owns(other, pod)).toList();
    links.forEach(link -> {
      link.allow(false);
      link.cut();
    });
    pass(1_000_000);
    requests(other, its.size());
    assertThat(its).allSatisfy(pod -> assertThat(other.running(pod)).isOne());

    one.listed(List.of(one.id().address()));
    requests(one, 8);
    pass(60_000);
    assertThat(its).allSatisfy(pod -> assertThat(running(pod)).isOne());

    // when the process is forgotten, too
    one.activators(Set.of(one.id().address()));
    pass(60_000);
    assertThat(its).allSatisfy(pod -> assertThat(running(pod)).isOne());

    other.hold(false);
    pass(1_000_000);
    assertThat(its).allSatisfy(pod -> assertThat(one.running(pod)).isOne());
  }

  @Test
  void forgetsAnActivator_onceItHasLeftAndNothingOfItCanRun() {
    var one = start();
    var other = start();
    known();
    connected();
    pods(pods(2));
    links.getFirst().cut();
    other.crash();
    one.activators(Set.of(one.id().address()));
    one.listed(List.of(one.id().address()));
    pass(400_000);
    assertThat(one.view().sharing()).as("while its requests may run").isNotNull();

    pass(30_000);

    assertThat(one.view()).isEqualTo(SharedPermitsView.ALONE);
    requests(one, 2);
    assertThat(one.queued()).isZero();
    all.remove(other);
  }

  @Test
  void freesWhatItLent_whenAnotherProcessHasTheBorrowersAddress() {
    twoShareOnePod();
    requests(borrower, 1);
    links.getFirst().cut();
    pass(10_000);
    requests(owner, 1);
    assertThat(owner.running(pod)).isZero();

    var successor = start(borrower.id().address());
    all.remove(borrower);
    links.removeIf(link -> link.isOf(borrower));
    borrower.revisionGone();
    borrower.answerOne();
    known();
    successor.pods(pods(1));
    connected();

    assertThat(owner.running(pod)).isOne();
  }

  @Test
  void keepsItsPods_whenAnotherActivatorIsListed_afterThePreviousOneLeft() {
    var one = start();
    var other = start();
    known();
    connected();
    pods(pods(2));
    // The revision's addresses change before the process is known to have ended.
    one.listed(List.of(one.id().address()));
    pass(10);
    one.lending().onDisconnected(other.id());
    one.lending().onEnded(other.id());
    one.activators(Set.of(one.id().address()));
    pass(1_000);
    assertThat(one.view()).isEqualTo(SharedPermitsView.ALONE);

    one.listed(List.of(one.id().address(), "10.1.0.3"));
    one.activators(Set.of(one.id().address(), "10.1.0.3"));
    pass(1);
    requests(one, 2);

    assertThat(one.queued()).isZero();
  }

  @Test
  void servesItsOwnRequests_whileMessagesOfAnotherActivatorAreTooLateToBorrow() {
    twoShareOnePod();
    late.add(borrower.id());
    all.forEach(it -> it.hold(false));
    pass(40_000);
    for (int i = 0; i < 30; i++) {
      borrower.request();
      requests(owner, 1);
      pass(1_000);
    }

    assertThat(owner.queued()).isZero();
    links.getFirst().cut();
    pass(25_000);
    late.clear();
    connected();
    assertThat(borrower.queued()).isZero();
  }

  @Test
  void knowsThePeers_whenTheLoopRunsBeforeTheThrottlerIsComplete() throws Exception {
    var lending = new PermitLending("10.1.0.1");
    lending.start(world, (_, _) -> {
    });
    lending.onActivators(Set.of("10.1.0.1", "10.1.0.2"));
    lending.onConnected(new PeerId("10.1.0.2", "p"));
    try (var thread = Executors.newSingleThreadExecutor()) {
      var loop = new LoopThatIsFaster(thread);
      var revisions = new TestRevisions(loop);
      var throttler = Quiescence.watch(Make.throttler(revisions.live, "10.1.0.1",
          ThrottlerOptions.of(10), random, lending));

      throttler.onRevision(revisions.put(revision));

      assertThat(loop.failures).isEmpty();
      var view = thread.submit(() -> throttler.inspect(SimulatedActivator.ID)).get().lending();
      assertThat(view.activators()).containsExactly("10.1.0.1", "10.1.0.2");
      revisions.remove(SimulatedActivator.ID);
    }
  }

  /** Has run each task of another thread when that thread goes on. */
  private static final class LoopThatIsFaster implements Loop {
    private final Thread other = Thread.currentThread();
    private final ExecutorService thread;
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();

    LoopThatIsFaster(ExecutorService thread) {
      this.thread = thread;
    }

    @Override
    public void execute(Runnable task) {
      var done = CompletableFuture.runAsync(task, thread).exceptionally(failure -> {
        failures.add(failure);
        return null;
      });
      if (Thread.currentThread() == other) {
        done.join();
      }
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return () -> {
      };
    }

    @Override
    public long nanoTime() {
      return 0;
    }
  }
}
