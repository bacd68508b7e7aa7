package dev.activator.throttle;

import static dev.activator.throttle.OneRevision.A;
import static dev.activator.throttle.OneRevision.B;
import static dev.activator.throttle.OneRevision.ID;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionStartFailure.ContainerFailure;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What callers are told of when to come again, and who is refused at once. */
class WaitEstimatorTest {
  private final OneRevision revision = new OneRevision(1, "activator.dev/queue-capacity", "40");

  private static int retryAfter(HeldRequest refused) {
    return switch ((Rejection) refused.answers().getFirst()) {
      case Rejection.QueueFull(_, int seconds) -> seconds;
      case Rejection.DeadlineTooNear(_, int seconds) -> seconds;
      case Rejection other -> throw new AssertionError(other);
    };
  }

  /** A request that nobody answers for so long, then a pod that is new, and then none again. */
  private void startsIn(Duration time) {
    var waiting = revision.request();
    revision.loop.advance(time);
    revision.pods(A);
    waiting.release();
    revision.pods(B);
    revision.pods();
  }

  @Test
  void aRequestIsRefusedWhoseDeadlineNoStartHasEverMet() {
    startsIn(Duration.ofSeconds(5));

    var hurried = revision.request(Duration.ofSeconds(3));
    var patient = revision.request(Duration.ofSeconds(5));

    assertThat(hurried.answers()).first().isInstanceOf(Rejection.DeadlineTooNear.class);
    assertThat(retryAfter(hurried)).isBetween(5, 8);
    assertThat(patient.waits()).isTrue();
    assertThat(revision.view().queued()).isOne();
  }

  @Test
  void requestIsNotRefused_whenItsDeadlineIsOverAndNoStartIsKnown() {
    assertThat(revision.request(Duration.ofNanos(-1)).waits()).isTrue();
  }

  @Test
  void theStartUnderWayIsCounted() {
    startsIn(Duration.ofSeconds(5));
    // given that even the refused one has asked for it
    revision.request(Duration.ofSeconds(3));

    revision.loop.advance(Duration.ofSeconds(2));

    assertThat(revision.request(Duration.ofSeconds(3)).waits()).isTrue();
    assertThat(revision.request(Duration.ofMillis(2_900)).answers()).hasSize(1);
  }

  @Test
  void aRefusedRequestDoesNotAwaitAStart() {
    startsIn(Duration.ofSeconds(5));
    revision.request(Duration.ofSeconds(3));

    assertThat(start().requested()).isNull();

    // and a pod that comes a minute later, asked for by another activator, was not a minute in starting
    revision.loop.advance(Duration.ofMinutes(1));
    startsIn(Duration.ofSeconds(5));
    assertThat(start().usual()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void aStartForRefusedRequestsOnlyIsLearned_ifItIsQuicker() {
    startsIn(Duration.ofSeconds(5));
    revision.request(Duration.ofSeconds(3));
    revision.loop.advance(Duration.ofSeconds(2));
    revision.pods(A);
    revision.pods();

    assertThat(revision.request(Duration.ofSeconds(3)).waits()).isTrue();
  }

  private ThrottleView.Start start() {
    return Objects.requireNonNull(revision.throttler.inspect(ID)).start();
  }

  @Test
  void noRequestIsRefusedBeforeAStartWasMeasured() {
    assertThat(revision.request(Duration.ofMillis(1)).waits()).isTrue();
  }

  @Test
  void noRequestIsRefusedForItsDeadlineWhileAPodHasCapacity() {
    startsIn(Duration.ofSeconds(5));
    revision.pods(A);
    revision.request();

    assertThat(revision.request(Duration.ofMillis(1)).waits()).isTrue();
  }

  @Test
  void aFasterStartIsLearned() {
    startsIn(Duration.ofSeconds(5));
    startsIn(Duration.ofSeconds(2));

    assertThat(revision.request(Duration.ofSeconds(3)).waits()).isTrue();
  }

  @Test
  void aBlockedStartIsNotMeasured() {
    // given one that is blocked for minutes, and whose requests are told so
    revision.request();
    revision.loop.run();
    revision.throttler.onContainerFailure(
        new ContainerFailure(ID, new RevisionStartFailure("ImagePullBackOff", "", "pod a")));
    revision.loop.advance(Duration.ofMinutes(5));

    // when it is not any more
    revision.pods(A);
    revision.pods();

    // then who cannot wait so long is not refused
    assertThat(revision.request(Duration.ofSeconds(30)).waits()).isTrue();
  }

  /** A node is added for the pods, which usually takes so long; zero if none is. */
  private void awaitsNode(Duration usual) {
    revision.throttler
        .onStartProgress(new RevisionStartProgress(ID, "pod", Map.of(), "", "", usual));
    revision.loop.run();
  }

  @Test
  void aStartThatNeedsANodeIsExpectedToTakeAsLongAsTheNode() {
    startsIn(Duration.ofSeconds(2));
    var waiting = revision.place();
    awaitsNode(Duration.ofSeconds(50));

    assertThat(revision.throttler.start(ID).usual()).isEqualTo(Duration.ofSeconds(50));
    assertThat(waiting.retryAfterSeconds()).isBetween(50, 76);
    revision.loop.advance(Duration.ofSeconds(40));
    assertThat(waiting.retryAfterSeconds()).isBetween(10, 16);

    awaitsNode(Duration.ZERO);
    assertThat(revision.throttler.start(ID).usual()).isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void aStartThatNeedsANodeIsNotMeasured() {
    // given one whose node comes after 95 seconds
    var waiting = revision.request();
    revision.loop.advance(Duration.ofSeconds(1));
    awaitsNode(Duration.ofMinutes(1));
    revision.loop.advance(Duration.ofSeconds(94));
    awaitsNode(Duration.ZERO);
    revision.pods(A);
    waiting.release();
    revision.pods();

    // then who cannot wait so long is not refused, as the next start finds the node
    assertThat(revision.request(Duration.ofSeconds(30)).waits()).isTrue();
  }

  @Test
  void aStartIsMeasured_afterOneThatNeededANodeWasGivenUp() {
    var waiting = revision.request();
    awaitsNode(Duration.ofMinutes(1));
    waiting.giveUp();
    revision.loop.run();
    awaitsNode(Duration.ZERO);
    revision.loop.advance(Duration.ofHours(1));

    startsIn(Duration.ofSeconds(5));

    assertThat(start().usual()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void aStartIsNotMeasured_whoseNodeIsStillAwaitedFromOneThatWasGivenUp() {
    var waiting = revision.request();
    awaitsNode(Duration.ofMinutes(1));
    waiting.giveUp();
    revision.loop.run();

    startsIn(Duration.ofSeconds(50));

    assertThat(revision.request(Duration.ofSeconds(30)).waits()).isTrue();
  }

  @Test
  void aStartWithoutQueuedRequestsIsNotMeasured() {
    revision.request().giveUp();
    revision.loop.advance(Duration.ofMinutes(5));
    revision.pods(A);
    revision.pods();

    assertThat(revision.request(Duration.ofSeconds(30)).waits()).isTrue();
  }

  @Test
  void podsThatWereUnlistedForAMomentHaveNotStarted() {
    startsIn(Duration.ofSeconds(5));
    var waiting = revision.request();
    revision.loop.advance(Duration.ofMillis(10));
    revision.pods(B);
    waiting.release();
    revision.pods();

    assertThat(revision.request(Duration.ofSeconds(3)).answers()).hasSize(1);
  }

  @Test
  void aFullQueueIsExpectedToHaveRunAsFastAsItMoves() {
    // given ten a second: 40 that wait will have run in four seconds
    revision.pods(A);
    var running = revision.request();
    var waiting = revision.requests(40);
    for (int i = 0; i < 20; i++) {
      revision.loop.advance(Duration.ofMillis(100));
      running.release();
      revision.loop.run();
      running = waiting.get(i);
      revision.request();
    }

    var refused = revision.request();
    assertThat(refused.answers()).first().isInstanceOf(Rejection.QueueFull.class);
    assertThat(retryAfter(refused)).isBetween(4, 7);
  }

  @Test
  void aFullQueueOfARevisionThatStartsIsExpectedToMoveThen() {
    startsIn(Duration.ofSeconds(20));
    revision.requests(40);

    assertThat(retryAfter(revision.request())).isBetween(20, 31);
  }

  @Test
  void callersRefusedTogetherGetDifferentRetryTimes() {
    startsIn(Duration.ofSeconds(20));
    revision.requests(40);

    var received = revision.requests(100).stream().map(WaitEstimatorTest::retryAfter).distinct()
        .toList();

    assertThat(received).hasSizeGreaterThan(5);
  }

  @Test
  void aQueuedRequestKnowsItsRetryTime() {
    startsIn(Duration.ofSeconds(20));

    assertThat(revision.place().retryAfterSeconds()).isBetween(20, 31);
    assertThat(revision.throttler.view(ID)).isNotNull();
  }
}
