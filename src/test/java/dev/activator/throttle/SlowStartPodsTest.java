package dev.activator.throttle;

import static dev.activator.throttle.OneRevision.A;
import static dev.activator.throttle.OneRevision.B;
import static dev.activator.throttle.OneRevision.C;
import static dev.activator.throttle.OneRevision.running;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The first pod of a revision without a limit does not get all that wait at once. */
class SlowStartPodsTest {
  private static final Duration STEP = Duration.ofMillis(100);

  private final OneRevision revision = new OneRevision(0, "activator.dev/slow-start", "4");

  @Test
  void aNewPodGetsAFewRequestsAtFirst() {
    var held = revision.requests(100);

    revision.pods(A);

    assertThat(running(held)).isEqualTo(4);
    assertThat(held.get(3).runs()).isTrue();
    assertThat(held.get(4).waits()).isTrue();
  }

  @Test
  void itGetsTwoMoreForEachOneServed() {
    var held = revision.requests(100);
    revision.pods(A);

    held.get(0).release();
    revision.loop.run();

    // one in the place of the one that is over, and one more
    assertThat(running(held)).isEqualTo(5);
    assertThat(held.get(5).runs()).isTrue();
    assertThat(held.get(6).waits()).isTrue();
  }

  @Test
  void itGetsTwiceAsManyWithTime() {
    var held = revision.requests(100);
    revision.pods(A);

    revision.loop.advance(STEP);
    assertThat(running(held)).isEqualTo(8);
    revision.loop.advance(STEP);
    assertThat(running(held)).isEqualTo(16);
  }

  @Test
  void itGetsFewerAfterOneThatItBrokeOff() {
    var held = revision.requests(100);
    revision.pods(A);
    revision.loop.advance(STEP.multipliedBy(2));
    assertThat(running(held)).isEqualTo(16);

    // when two of sixteen are broken off, then seven may run, and nine are over before one more runs
    held.get(0).releaseBroken();
    held.get(1).releaseBroken();
    revision.loop.run();
    assertThat(running(held)).isEqualTo(14);
    for (int i = 2; i < 5; i++) {
      held.get(i).release();
    }
    revision.loop.run();
    assertThat(running(held)).isEqualTo(11);
  }

  @Test
  void anUncountedRequestDoesNotChangeItsWindow() {
    var held = revision.requests(100);
    revision.pods(A);
    assertThat(running(held)).isEqualTo(4);

    for (int i = 0; i < 4; i++) {
      held.get(i).releaseUncounted();
      revision.loop.run();
    }

    assertThat(running(held)).isEqualTo(4);
  }

  @Test
  void itGetsAsManyAfterOneWhoseCallerLeft() {
    var held = revision.requests(100);
    revision.pods(A);

    for (int i = 0; i < 4; i++) {
      held.get(i).abandon();
      revision.loop.run();
    }

    assertThat(running(held)).isEqualTo(4);
  }

  @Test
  void itGetsAsManyAfterPermitsThatCameTooLate() {
    // given four permits on their way to callers
    var held = revision.requests(100);
    revision.pods(A);
    for (int i = 0; i < 3; i++) {
      held.get(i).releaseUncounted();
    }

    // when the callers leave before the permits are there
    for (int i = 4; i < 7; i++) {
      held.get(i).giveUp();
    }
    revision.loop.run();

    // then others run in their place
    assertThat(running(held)).isEqualTo(4);
  }

  @Test
  void allRunInTheEndHoweverSlowItIs() {
    var held = revision.requests(2_000);
    revision.pods(A);

    // 4, 8, 16 ... 512, and from 1,024 on there is no limit
    revision.loop.advance(STEP.multipliedBy(7));
    assertThat(running(held)).isEqualTo(512);
    revision.loop.advance(STEP);
    assertThat(running(held)).isEqualTo(2_000);
  }

  /** In one case the step passes between two looks at the window. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void aRequestThatComesAsTheWindowWidensWaitsForNoOtherStep(int nanosBefore) {
    revision.pods(A);
    revision.requests(4);
    revision.loop.advance(STEP.minusNanos(nanosBefore));

    revision.loop.readingsTake(1);
    var request = revision.request();
    revision.loop.advance(STEP.dividedBy(2));

    assertThat(request.runs()).isTrue();
  }

  @Test
  void aPodThatHasWarmedUpHasNoLimit() {
    revision.pods(A);
    revision.loop.advance(STEP.multipliedBy(8));

    assertThat(running(revision.requests(5_000))).isEqualTo(5_000);
  }

  @Test
  void nothingIsScheduledWhileNoRequestWaits() {
    revision.pods(A);
    revision.loop.advance(RevisionThrottler.LOG_DELAY);
    assertThat(running(revision.requests(4))).isEqualTo(4);

    assertThat(revision.loop.pending()).isZero();
  }

  @Test
  void aWindowDoesNotWidenWhileItsPodIsAway() {
    revision.pods(A);
    revision.pods();
    revision.loop.advance(STEP.multipliedBy(8));
    var held = revision.requests(100);

    revision.pods(A);

    assertThat(running(held)).isEqualTo(4);
  }

  @Test
  void aWindowWidensByOneForARequestThatIsServedWhileItsPodIsAway() {
    // given a pod with a window of two
    var held = revision.requests(100);
    revision.pods(A);
    held.get(0).releaseBroken();
    revision.pods();
    revision.loop.advance(STEP.multipliedBy(8));

    // when it serves what it was sent before
    held.get(1).release();
    held.get(2).abandon();
    held.get(3).abandon();
    revision.pods(A);

    assertThat(running(held)).isEqualTo(3);
  }

  @Test
  void aSecondPodIsNewOnItsOwn() {
    revision.pods(A);
    revision.loop.advance(STEP.multipliedBy(8));
    revision.pods(A, B);

    var held = revision.requests(1_000);

    assertThat(running(held)).isEqualTo(1_000);
    assertThat(held.stream().filter(request -> B.equals(request.destination())).count())
        .isEqualTo(4);
  }

  @Test
  void aPodThatComesBackIsNewAgain() {
    revision.pods(A);
    revision.loop.advance(STEP.multipliedBy(8));
    revision.pods();
    var held = revision.requests(100);

    revision.pods(A);

    assertThat(running(held)).isEqualTo(4);
  }

  @Test
  void aPodThatBrokeOffARequestAndComesBackKeepsItsWindow() {
    // given one that broke a request while others run there
    var held = revision.requests(100);
    revision.pods(A);
    held.get(0).releaseBroken();
    revision.loop.run();
    assertThat(running(held)).isEqualTo(3);

    // when it goes and comes back at once
    revision.pods();
    revision.pods(A);

    // then there is room for two, and three run there already
    assertThat(running(held)).isEqualTo(3);
  }

  @Test
  void aPodThatRefusesAllRequestsKeepsItsWindowWhenItComesBack() {
    // given a pod that has gone, and then refuses all that it was sent before: 4, 2, 1
    var held = revision.requests(100);
    revision.pods(A);
    revision.pods();
    held.stream().filter(HeldRequest::runs).forEach(HeldRequest::releaseBroken);
    revision.loop.run();
    assertThat(revision.view().pods()).isEmpty();

    revision.pods(A);

    assertThat(running(held)).isEqualTo(1);
  }

  @Test
  void onlyTheLastPodsThatRefusedAndWentKeepTheirWindows() {
    for (int i = 0; i <= RevisionPermits.REMEMBERED; i++) {
      refusesAndGoes(pod(i));
    }
    var held = revision.requests(100);

    revision.pods(pod(RevisionPermits.REMEMBERED));
    assertThat(running(held)).isEqualTo(1);

    revision.pods(pod(0));
    assertThat(running(held)).isEqualTo(1 + 4);
  }

  @Test
  void aPodThatReturnedAndWentAgainIsOneOfTheLast() {
    refusesAndGoes(A);
    refusesAndGoes(pod(0));
    refusesAndGoes(A);
    for (int i = 1; i < RevisionPermits.REMEMBERED; i++) {
      refusesAndGoes(pod(i));
    }
    var held = revision.requests(100);

    revision.pods(A);
    assertThat(running(held)).isEqualTo(1);

    revision.pods(pod(0));
    assertThat(running(held)).isEqualTo(1 + 4);
  }

  private void refusesAndGoes(Destination pod) {
    revision.pods(pod);
    revision.request().releaseBroken();
    revision.pods();
  }

  private static Destination pod(int number) {
    return new Destination("10.1.0." + number % 250, 1 + number);
  }

  @Test
  void thereIsNoneForTheClusterIpAsItIsNotOnePod() {
    var held = revision.requests(2_000);

    revision.clusterIp(C, A, B);
    assertThat(running(held)).isEqualTo(2_000);

    // and none after a request that it broke off, but for the pods there is once they are addressed
    held.getFirst().releaseBroken();
    revision.loop.run();
    assertThat(running(revision.requests(2_000))).isEqualTo(2_000);
    revision.pods(A);
    assertThat(running(revision.requests(100))).isEqualTo(4);
  }

  @Test
  void thereIsNoneWhereItIsOff() {
    var held = revision.requests(2_000);
    revision.pods(A);

    revision.changes(0, "activator.dev/slow-start", "off");

    assertThat(running(held)).isEqualTo(2_000);
  }

  @Test
  void thereIsNoneWhereAPodHasALimit() {
    var limited = new OneRevision(50, "activator.dev/slow-start", "4");
    var held = limited.requests(100);

    limited.pods(A);
    assertThat(running(held)).isEqualTo(50);
    held.get(0).releaseBroken();
    limited.loop.run();
    assertThat(running(held)).isEqualTo(50);
  }
}
