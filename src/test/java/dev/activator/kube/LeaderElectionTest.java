package dev.activator.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.kube.policy.LeaderElectionState.Times;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class LeaderElectionTest {
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakeLease lease = new FakeLease();
  private final Candidate a = new Candidate("a");
  private final Candidate b = new Candidate("b");

  /** Wall time that goes with the loop's. */
  private final class LoopClock extends Clock {
    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return NOON.plusNanos(loop.nanoTime());
    }
  }

  private final class Candidate implements LeaderElection.Listener {
    private final List<String> events = new ArrayList<>();
    private final LeaderElection election;
    private CompletableFuture<Void> writes = CompletableFuture.completedFuture(null);

    Candidate(String name) {
      election = new LeaderElection(name, loop, lease, this, new LoopClock(), new Random(1),
          Times.DEFAULT);
    }

    @Override
    public void elected(int term) {
      events.add("elected " + term);
    }

    @Override
    public CompletableFuture<Void> deposed() {
      events.add("deposed");
      return writes;
    }

    @Override
    public void onHolder(String holder) {
      events.add("holder " + holder);
    }
  }

  private void seconds(double length) {
    loop.advance(Duration.ofMillis(Math.round(length * 1_000)));
  }

  private void bothRun() {
    a.election.start();
    loop.run();
    b.election.start();
    seconds(60);
  }

  @Test
  void oneOfTwoLeadsAndTheOtherKnowsIt() {
    bothRun();

    assertThat(a.events).containsExactly("elected 0", "holder a");
    assertThat(b.events).containsExactly("holder a");
    assertThat(a.election.mayWrite()).isTrue();
    assertThat(b.election.mayWrite()).isFalse();
    assertThat(b.election.view().holder()).isEqualTo("a");
  }

  @Test
  void standsForElection_whenItsFirstAttemptFailsWithABug() {
    lease.breaks = true;
    a.election.start();
    assertThatThrownBy(() -> loop.run()).isInstanceOf(IllegalStateException.class);

    lease.breaks = false;
    seconds(5);

    assertThat(a.events).contains("elected 0");
  }

  @Test
  void theLeaseIsReleased_evenIfTheLastWritesFailed() {
    bothRun();
    a.writes = CompletableFuture.failedFuture(new IllegalStateException("a bug"));

    var stopped = a.election.stop();
    seconds(5.4);

    assertThat(stopped).isCompleted();
    assertThat(b.events).containsExactly("holder a", "elected 1", "holder b");
  }

  @Test
  void aLeaderThatStopsLetsAnotherLeadWithinSeconds() {
    bothRun();

    var stopped = a.election.stop();
    seconds(5.4);
    assertThat(stopped).isCompleted();
    assertThat(b.events).containsExactly("holder a", "elected 1", "holder b");
  }

  @Test
  void theLeaseIsReleasedOnlyAfterTheLastWrite() {
    bothRun();
    a.writes = new CompletableFuture<>();

    var stopped = a.election.stop();
    seconds(3);
    assertThat(stopped).isNotDone();
    assertThat(lease.lease.holder()).isEqualTo("a");

    a.writes.complete(null);
    loop.run();
    assertThat(lease.lease.holder()).isEmpty();
  }

  @Test
  void theLeaseIsNotHeldFromItsReleaseOn() {
    bothRun();
    a.writes = new CompletableFuture<>();
    a.election.stop();
    loop.run();
    assertThat(a.election.holdsLease()).isTrue();

    lease.way = new CompletableFuture<>();
    a.writes.complete(null);
    loop.run();
    assertThat(lease.lease.holder()).as("while the release is on its way").isEqualTo("a");
    assertThat(a.election.holdsLease()).isFalse();

    lease.way.complete(null);
    loop.run();
    assertThat(lease.lease.holder()).isEmpty();
  }

  @Test
  void theAgeOfALeaseThatWasNeverReadIsCountedFromTheStart() {
    seconds(1_000);
    var late = new Candidate("late");
    lease.down = true;
    late.election.start();
    seconds(5);

    assertThat(loop.nanoTime() - late.election.view().renewedAt())
        .isEqualTo(Duration.ofSeconds(5).toNanos());
  }

  @Test
  void aRenewalOnItsWayDoesNotOutliveTheRelease() {
    bothRun();
    lease.way = new CompletableFuture<>();
    seconds(3);
    var way = lease.way;
    lease.way = CompletableFuture.completedFuture(null);

    var stopped = a.election.stop();
    loop.run();
    assertThat(stopped).isNotDone();
    way.complete(null);
    loop.run();

    assertThat(stopped).isCompleted();
    assertThat(lease.lease.holder()).isEmpty();
  }

  @Test
  void aCandidateThatStopsWhileItTakesTheLeaseReleasesIt() {
    lease.way = new CompletableFuture<>();
    a.election.start();
    loop.run();
    var way = lease.way;
    lease.way = CompletableFuture.completedFuture(null);

    var stopped = a.election.stop();
    loop.run();
    way.complete(null);
    loop.run();

    assertThat(stopped).isCompleted();
    assertThat(lease.lease.holder()).isEmpty();
    assertThat(a.events).doesNotContain("elected 0");
  }

  @Test
  void aLeaderThatStopsAfterALostAnswerReleasesTheLeaseThatItHas() {
    bothRun();
    lease.losesAnswers = true;
    seconds(2);
    assertThat(a.election.view().failures()).isEqualTo(1);
    var stopped = a.election.stop();
    loop.run();

    assertThat(stopped).isCompleted();
    assertThat(lease.lease.holder()).isEmpty();
  }

  @Test
  void whatIsKnownOfTheElectionIsKnownAfterTheEnd() {
    bothRun();
    assertThat(a.election.view().leads()).isTrue();
    assertThat(loop.nanoTime() - b.election.view().renewedAt())
        .isLessThan(Duration.ofSeconds(7).toNanos());

    a.election.stop();
    loop.run();
    assertThat(a.election.view().leads()).isFalse();
  }

  @Test
  void aLeaderThatCannotReachTheApiStopsWritingBeforeItGivesUp() {
    bothRun();
    lease.down = true;
    seconds(8.1);
    assertThat(a.election.mayWrite()).isFalse();

    seconds(4);
    assertThat(a.events).endsWith("deposed");
    lease.down = false;
    seconds(30);
    assertThat(a.election.mayWrite() ^ b.election.mayWrite()).isTrue();
  }

  @Test
  void aLeaderThatLeadsAgainIsReportedAsTheHolderAgain() {
    a.election.start();
    seconds(1);
    lease.refusesWrites = true;
    seconds(30);
    lease.refusesWrites = false;
    seconds(5);

    assertThat(a.events).containsExactly("elected 0", "holder a", "deposed", "elected 0",
        "holder a");
  }

  /** Those that ask whether it leads have forgotten the term. */
  @Test
  void aNewTermBegins_ifTheRenewalIsAnsweredAfterTheLastTermIsOver() {
    bothRun();
    lease.way = new CompletableFuture<>();
    seconds(3);
    lease.way.complete(null);
    seconds(2);
    a.events.clear();
    lease.down = true;
    seconds(9);
    lease.down = false;
    lease.way = new CompletableFuture<>();
    while (a.election.holdsLease()) {
      seconds(0.01);
    }
    assertThat(a.events).as("the election has not noticed it").isEmpty();

    lease.way.complete(null);
    loop.run();

    assertThat(a.election.holdsLease()).isTrue();
    assertThat(a.events).startsWith("deposed", "elected 0");
  }

  @Test
  void aRenewalWhoseAnswerIsLostDoesNotEndTheTerm() {
    bothRun();
    lease.losesAnswers = true;
    seconds(3);
    lease.losesAnswers = false;
    seconds(20);

    assertThat(a.events).containsExactly("elected 0", "holder a");
    assertThat(a.election.mayWrite()).isTrue();
  }

  @Test
  void aLeaseThatWasDeletedIsMadeAgainByItsLeader() {
    bothRun();
    lease.lease = null;
    seconds(30);

    assertThat(lease.lease.holder()).isEqualTo("a");
    assertThat(b.events).containsExactly("holder a");
  }

  @Test
  void aDecreaseIsNotConfirmedOnceAnotherHoldsTheLease() {
    bothRun();
    var ours = a.election.confirmed();
    loop.run();
    assertThat(ours).isCompletedWithValue(true);

    lease.write(new dev.activator.revision.LeaseClient.LeaseRecord("c", 15, 9, NOON, NOON,
        lease.lease.version()));
    var others = a.election.confirmed();
    loop.run();
    assertThat(others).isCompletedWithValue(false);
    assertThat(a.events).contains("deposed");
  }

  @Test
  void aReadThatFailsConfirmsNothingAndEndsNothing() {
    bothRun();
    lease.down = true;
    var unknown = a.election.confirmed();
    loop.run();

    assertThat(unknown).isCompletedWithValue(false);
    assertThat(a.election.mayWrite()).isTrue();
  }
}
