package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionStartFailure.ContainerFailure;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Who is rejected since none of the pods will run it. */
class ThrottlerRejectionTest extends ThrottlerScene {
  @Test
  @DisplayName("a deleted revision rejects who waits at once")
  void aDeletedRevisionRejectsQueuedRequestsAtOnce() {
    exists(1);
    pods(A);
    var held = requests(2);

    exist.remove(ID);
    loop.run();

    assertThat(held.get(1).answers()).containsExactly(new Rejection.RevisionGone(ID));
    assertThat(throttler.view(ID)).isNull();
    assertThat(throttler.requestsInFlight(A)).isEqualTo(1);
    held.get(0).release();
    loop.run();
    assertThat(throttler.requestsInFlight(A)).isZero();
  }

  @Test
  void aRequestThatLostTheRaceAgainstADeletionIsRejected() {
    // given a request that looked the revision up before it was deleted, and asks after
    exists(1);
    exist.remove(ID);
    loop.run();

    assertThat(request().answers()).containsExactly(new Rejection.RevisionGone(ID));
    assertThat(throttler.views()).isEmpty();
  }

  @Test
  void aRequestThatFindsTheRevisionDeletedLeavesOneCreatedAgainMeanwhile() {
    exists(1);
    exist.remove(ID);
    var late = request();

    exists(1);
    pods(A);

    assertThat(late.answers()).containsExactly(new Rejection.RevisionGone(ID));
    assertThat(throttler.revisions()).containsExactly(ID);
    assertThat(request().destination()).isEqualTo(A);
  }

  @Test
  void aRequestOnItsWayToTheQueueOfADeletedRevisionIsRejected() {
    exists(1);
    exist.remove(ID);

    assertThat(request().answers()).containsExactly(new Rejection.RevisionGone(ID));
  }

  @Test
  void aNewStartFailureRejectsQueuedRequests() {
    exists(1);
    var held = requests(2);

    failsToStart(CRASH);

    for (var request : held) {
      assertThat(request.answers()).containsExactly(new Rejection.CannotStart(ID, CRASH));
    }
    assertThat(throttler.view(ID).queued()).isZero();
  }

  @Test
  void waitsForANode_althoughTheRevisionIsUnschedulable() {
    exists(1);
    var held = request();

    failsToStart(new RevisionStartFailure("Unschedulable", "0/3 nodes are available", "t1"));
    assertThat(held.waits()).isTrue();

    pods(A);
    assertThat(held.destination()).isEqualTo(A);
  }

  @Test
  void aKnownStartFailureRejectsNoRequest() {
    exists(1);
    failsToStart(CRASH);
    var held = request();

    failsToStart(CRASH);
    failsToStart(null);
    failsToStart(CRASH);
    assertThat(held.waits()).isTrue();

    var again = new RevisionStartFailure("ExitCode1", "it crashed", "t2");
    failsToStart(again);
    assertThat(held.answers()).containsExactly(new Rejection.CannotStart(ID, again));
  }

  @Test
  void rejectsNewRequestsAtZero_whileAFailureLasts() {
    var notFound = RevisionStartFailure.shown("TargetNotFound", "there is no Deployment web");
    exists(1);
    failsToStart(notFound);

    assertThat(request().answers()).containsExactly(new Rejection.CannotStart(ID, notFound));
    assertThat(request().answers()).containsExactly(new Rejection.CannotStart(ID, notFound));
    assertThat(throttler.view(ID).queued()).isZero();

    failsToStart(null);
    assertThat(request().waits()).isTrue();
  }

  @Test
  void queuesRequests_whileAPodRunsAlthoughAFailureLasts() {
    exists(1);
    pods(A);
    failsToStart(RevisionStartFailure.shown("TargetTaken", "older"));

    var held = requests(2);
    assertThat(held.get(1).waits()).isTrue();
    held.get(0).release();
    loop.run();

    assertThat(held.get(1).answers()).containsExactly(A);
  }

  @Test
  void rejectsQueuedRequestsWithinASecond_whenTheLastPodGoesWhileAFailureLasts() {
    var taken = RevisionStartFailure.shown("TargetTaken", "older");
    exists(1);
    pods(A);
    failsToStart(taken);
    var held = requests(2);

    pods();
    loop.advance(Duration.ofSeconds(1));

    assertThat(held.get(1).answers()).containsExactly(new Rejection.CannotStart(ID, taken));
  }

  @Test
  void aStartFailureBesideARunningPodRejectsNoRequest() {
    exists(1);
    pods(A);
    var held = requests(2);

    failsToStart(CRASH);
    held.get(0).release();
    loop.run();

    assertThat(held.get(1).answers()).containsExactly(A);
  }

  @Test
  void podsThatAcceptNoConnectionsRejectOldAndNewRequestsUntilTheyDo() {
    // given a request that could not be delivered, and one behind it
    exists(1);
    pods(A);
    var held = requests(2);
    held.get(0).retry();
    pods();
    assertThat(held).allMatch(HeldRequest::waits);

    // when the pod is given up
    throttler.onDestinations(HealthyDestinations.givenUp(ID));
    loop.run();

    // then both are rejected, and so is the next
    assertThat(held.get(0).answers()).containsExactly(new Rejection.GivenUp(ID));
    assertThat(held.get(1).answers()).containsExactly(new Rejection.GivenUp(ID));
    assertThat(request().answers()).containsExactly(new Rejection.GivenUp(ID));
    assertThat(throttler.view(ID).queued()).isZero();

    // and when another may be starting, then a request waits for it
    pods();
    var waiting = request();
    assertThat(waiting.answers()).isEmpty();
    pods(B);
    assertThat(waiting.runs()).isTrue();
  }

  @Test
  void rejectsQueuedRequestsWhilePodsCannotStart() {
    // given a request, and pods that say that they will not start
    exists(1);
    var first = request();
    throttler.onContainerFailure(new ContainerFailure(ID, CRASH));
    loop.run();
    assertThat(first.answers()).containsExactly(new Rejection.CannotStart(ID, CRASH));

    // when another comes, then it is rejected within a second
    var second = request();
    assertThat(second.answers()).isEmpty();
    loop.advance(Duration.ofSeconds(1));
    assertThat(second.answers()).containsExactly(new Rejection.CannotStart(ID, CRASH));

    // and when they may start again, then it waits
    throttler.onContainerFailure(new ContainerFailure(ID, null));
    var third = request();
    loop.advance(Duration.ofSeconds(5));
    assertThat(third.answers()).isEmpty();
    pods(A);
    assertThat(third.runs()).isTrue();

    // and while something runs nobody is rejected
    throttler.onContainerFailure(new ContainerFailure(ID, CRASH));
    var fourth = request();
    loop.advance(Duration.ofSeconds(5));
    assertThat(fourth.answers()).isEmpty();
  }
}
