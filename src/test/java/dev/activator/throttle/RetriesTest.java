package dev.activator.throttle;

import static dev.activator.throttle.OneRevision.A;
import static dev.activator.throttle.OneRevision.B;
import static dev.activator.throttle.OneRevision.C;
import static dev.activator.throttle.OneRevision.destinations;
import static dev.activator.throttle.OneRevision.running;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.HealthyDestinations;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Requests that could not be delivered. */
class RetriesTest {
  @Test
  void goToAnotherPod() {
    var revision = new OneRevision(1);
    revision.pods(A, B);
    var request = revision.request();
    assertThat(request.destination()).isEqualTo(A);

    assertThat(request.retry()).isTrue();
    revision.loop.run();

    assertThat(request.destination()).isEqualTo(B);
    assertThat(revision.unreachable).containsExactly(A);
    assertThat(revision.view().inFlight()).isOne();
  }

  @Test
  void waitBeforeAllThatHaveNotHadAPermit() {
    var revision = new OneRevision(1);
    revision.pods(A, B);
    var held = revision.requests(4);
    assertThat(destinations(held)).containsExactly(A, B, null, null);

    // when the first could not be delivered, and nobody is faster
    held.get(0).retry();
    revision.loop.run();
    assertThat(held).filteredOn(HeldRequest::waits).containsExactly(held.get(0), held.get(2),
        held.get(3));

    // then it has the next permit
    held.get(1).release();
    revision.loop.run();
    assertThat(held.get(0).destination()).isEqualTo(B);
    held.get(0).release();
    revision.loop.run();
    assertThat(held.get(2).destination()).isEqualTo(B);
  }

  @Test
  void areNotTheOldestWaitOfOneThatCameBefore() {
    var revision = new OneRevision(1);
    revision.pods(A);
    var held = revision.requests(2);
    revision.loop.advance(Duration.ofSeconds(3));

    held.get(0).retry();
    revision.loop.run();

    assertThat(revision.view().oldestWait()).isEqualTo(Duration.ofSeconds(3));
    assertThat(Objects.requireNonNull(revision.throttler.inspect(OneRevision.ID)).queue().oldest())
        .containsExactly(Duration.ofSeconds(3), Duration.ZERO);
  }

  @Test
  void areNotOvertakenOnTheirWayToTheQueue() {
    var revision = new OneRevision(1);
    revision.pods(A, B);
    var request = revision.request();

    // when a newcomer asks before the loop has heard of the retry, though B is free
    request.retry();
    var newcomer = revision.request();

    assertThat(request.destination()).isEqualTo(B);
    assertThat(newcomer.waits()).isTrue();
  }

  @Test
  void keepTheirOrderAmongEachOther() {
    var revision = new OneRevision(2);
    revision.pods(A);
    var held = revision.requests(2);
    held.get(0).retry();
    held.get(1).retry();
    revision.loop.run();

    revision.changes(1);
    revision.pods(B);

    assertThat(destinations(held)).containsExactly(B, null);
  }

  @Test
  void avoidAPodThatCouldNotBeReachedForAWhile() {
    var revision = new OneRevision(1);
    revision.pods(A, B);
    var request = revision.request();
    request.retry();
    revision.loop.run();
    request.release();
    revision.loop.run();

    assertThat(revision.view().capacity()).isOne();
    assertThat(revision.request().destination()).isEqualTo(B);
    var waiting = revision.request();
    assertThat(waiting.waits()).isTrue();

    // a quarter of a second later it is tried again
    revision.loop.advance(Duration.ofMillis(250));
    assertThat(waiting.destination()).isEqualTo(A);
  }

  @Test
  void useThePodAgainAsSoonAsItAnsweredAProbe() {
    var revision = new OneRevision(1);
    revision.pods(A);
    var request = revision.request();
    request.retry();
    revision.loop.run();
    assertThat(request.waits()).isTrue();

    // when the prober has taken it off its list, and put it back
    revision.pods();
    assertThat(request.waits()).isTrue();
    revision.pods(A);

    assertThat(request.destination()).isEqualTo(A);
  }

  @Test
  void tryTheLastPodAgainWithoutAProbe() {
    var revision = new OneRevision(1);
    revision.pods(A);
    var request = revision.request();

    for (int i = 0; i < 5; i++) {
      request.retry();
      revision.loop.run();
      assertThat(request.waits()).isTrue();
      revision.loop.advance(Duration.ofMillis(250));
      assertThat(request.destination()).isEqualTo(A);
    }
  }

  @Test
  void areReportedOnceForAllThatFailAtOnce() {
    var revision = new OneRevision(5);
    revision.pods(A);
    var held = revision.requests(5);
    revision.pods(A, B, C);

    held.forEach(HeldRequest::retry);
    revision.loop.run();

    assertThat(running(held)).isEqualTo(5);
    assertThat(destinations(held)).doesNotContain(A);
    assertThat(revision.unreachable).containsExactly(A);
  }

  @Test
  void areLimitedToTenOrAFifthOfTheActiveRequests() {
    // ten of twenty may; a fifth of them would be four
    var few = new OneRevision(20);
    few.pods(A);
    var some = few.requests(20);
    assertThat(some.stream().filter(HeldRequest::retry).count()).isEqualTo(10);
    few.loop.run();
    assertThat(few.view().inFlight()).isZero();
    assertThat(few.view().queued()).isEqualTo(10);

    // 40 of 200, whether they run or wait
    var many = new OneRevision(200);
    many.pods(A);
    var all = many.requests(200);
    for (int i = 0; i < 40; i++) {
      assertThat(all.get(i).retry()).isTrue();
      many.loop.run();
    }
    assertThat(all.get(40).retry()).isFalse();
  }

  @Test
  void areNotLimited_whenThereWasNoConnection() {
    var revision = new OneRevision(200);
    revision.pods(A);
    var all = revision.requests(200);

    assertThat(all).allMatch(HeldRequest::retryUnconnected);
    revision.loop.run();
    assertThat(revision.view().inFlight()).isZero();
    assertThat(revision.view().queued()).isEqualTo(200);

    // when the only pod is no longer ejected
    revision.loop.advance(Duration.ofMillis(250));
    assertThat(running(all)).isEqualTo(200);
  }

  @Test
  void areNotRefusedWhileAnotherPodHasRoom() {
    // given twenty that cannot reach A, of which ten may retry
    var revision = new OneRevision(20, "activator.dev/balancing", "first-available");
    revision.pods(A, B);
    var held = revision.requests(20);
    assertThat(destinations(held)).containsOnly(A);

    for (int i = 0; i < 19; i++) {
      assertThat(held.get(i).retry()).isTrue();
    }
    revision.loop.run();
    assertThat(destinations(held)).startsWith(B).doesNotContainNull();
    assertThat(revision.view().inFlight()).isEqualTo(20);

    // when B has no room left either
    assertThat(revision.request().destination()).isEqualTo(B);
    assertThat(held.get(19).retry()).isFalse();
  }

  @Test
  void countAsRetriesUntilTheyEnd() {
    var revision = new OneRevision(20);
    revision.pods(A);
    var held = revision.requests(20);
    for (int i = 0; i < 10; i++) {
      assertThat(held.get(i).retry()).isTrue();
    }
    revision.pods(B);
    assertThat(running(held)).isEqualTo(20);
    // so that there is no room on B
    revision.changes(5);

    assertThat(held.get(10).retry()).isFalse();
    held.get(0).release();
    assertThat(held.get(11).retry()).isTrue();
    held.get(1).releaseBroken();
    assertThat(held.get(12).retry()).isTrue();
    held.get(12).giveUp();
    assertThat(held.get(13).retry()).isTrue();
    assertThat(held.get(14).retry()).isFalse();
  }

  @Test
  void countsARequestOnce_whenItRetriesTwice() {
    var revision = new OneRevision(20);
    revision.pods(A);
    var held = revision.requests(20);
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 10; i++) {
        assertThat(held.get(i).retry()).isTrue();
      }
      revision.loop.advance(Duration.ofMillis(250));
    }
    assertThat(held.get(10).retry()).isFalse();
  }

  @Test
  void areRejectedAtOnce_whenAllPodsWereGivenUpMeanwhile() {
    var revision = new OneRevision(1);
    revision.pods(A);
    var request = revision.request();
    revision.throttler.onDestinations(HealthyDestinations.givenUp(OneRevision.ID));
    revision.loop.run();

    request.retry();
    revision.loop.run();

    assertThat(request.answers()).last().isInstanceOf(Rejection.GivenUp.class);
    assertThat(revision.view().queued()).isZero();
  }

  @Test
  void areWaitedFor_whenThePodWasUnlistedMeanwhile() {
    var revision = new OneRevision(1);
    var waiting = new AtomicInteger();
    var starved = new AtomicInteger();
    revision.throttler.requestWaits().subscribe("test", _ -> waiting.incrementAndGet());
    revision.throttler.starved().subscribe("test", _ -> starved.incrementAndGet());
    revision.pods(A);
    var request = revision.request();
    revision.pods();
    assertThat(waiting).hasValue(0);

    request.retry();
    revision.loop.run();

    assertThat(waiting).hasValue(1);
    revision.loop.advance(Duration.ofSeconds(1));
    assertThat(starved).hasValue(1);
  }

  @Test
  void areRejectedWhenTheRevisionIsGone() {
    var revision = new OneRevision(1);
    revision.pods(A);
    var request = revision.request();
    revision.revisions.remove(OneRevision.ID);
    revision.loop.run();

    request.retry();
    revision.loop.run();

    assertThat(request.answers())
        .containsExactly(new Rejection.RevisionGone(OneRevision.ID));
    assertThat(revision.unreachable).isEmpty();
  }
}
