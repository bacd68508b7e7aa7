package dev.activator.throttle;

import static dev.activator.throttle.OneRevision.A;
import static dev.activator.throttle.OneRevision.B;
import static dev.activator.throttle.OneRevision.C;
import static dev.activator.throttle.OneRevision.ID;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Requests that choose their pods, beside others that do not. */
class PodChoiceTest {
  /** A request that prefers the pods in this order. */
  private record Preferred(List<Destination> order) implements PodChoice {
    static Preferred of(Destination... order) {
      return new Preferred(List.of(order));
    }

    @Override
    public Wanted wanted(List<Destination> pods) {
      return ANY;
    }

    @Override
    public long score(Destination pod) {
      return -order.indexOf(pod);
    }
  }

  /** A request that may run on one pod only, or on the second once the first is gone. */
  private record Bound(Destination pod, Destination then) implements PodChoice {
    @Override
    public Wanted wanted(List<Destination> pods) {
      if (pods.contains(pod)) {
        return new Only(pod);
      }
      return pods.contains(then) ? new Only(then) : GONE;
    }

    @Override
    public long score(Destination any) {
      return 0;
    }
  }

  private static final PodChoice ONLY_A = new Bound(A, A);

  private final OneRevision rev = new OneRevision(1);

  private void runsOn(Destination... pods) {
    rev.requestsChoose();
    rev.pods(pods);
  }

  private void callersLeaveUntilTheNewestIsFirst() {
    while (!rev.view().newestFirst()) {
      var left = rev.request();
      rev.loop.advance(Duration.ofMillis(500));
      left.giveUp();
      rev.loop.run();
    }
    rev.loop.advance(Duration.ofMillis(1));
  }

  @Test
  void runsOnTheFirstPodOfItsOrderThatHasRoom() {
    runsOn(A, B, C);

    assertThat(rev.request(Preferred.of(C, A, B)).destination()).isEqualTo(C);
    assertThat(rev.request(Preferred.of(C, A, B)).destination()).isEqualTo(A);
    assertThat(rev.request(Preferred.of(C, A, B)).destination()).isEqualTo(B);
  }

  @Test
  void takesAnyPodThatIsReleasedWhenAllAreFull() {
    runsOn(A, B);
    var onA = rev.request(Preferred.of(A, B));
    rev.request(Preferred.of(A, B));
    var waiting = rev.request(Preferred.of(B, A));

    onA.release();
    rev.loop.run();

    assertThat(waiting.destination()).isEqualTo(A);
  }

  /** A request that may run on some pods only, and prefers the first. */
  private record Some(List<Destination> pods) implements PodChoice {
    static Some of(Destination... pods) {
      return new Some(List.of(pods));
    }

    @Override
    public Wanted wanted(List<Destination> now) {
      var left = now.stream().filter(pods::contains).collect(Collectors.toSet());
      return left.isEmpty() ? GONE : new AnyOf(left);
    }

    @Override
    public long score(Destination pod) {
      return -pods.indexOf(pod);
    }
  }

  @Test
  void aRequestForSomePodsTakesTheFirstOfThemThatIsReleased() {
    runsOn(A, B, C);
    rev.request(ONLY_A);
    var onB = rev.request(new Bound(B, B));

    var some = rev.request(Some.of(A, B));
    assertThat(some.waits()).isTrue();
    assertThat(rev.throttler.inspect(ID).queue().bound())
        .isEqualTo(new ThrottleView.Bound(Map.of(), 1));
    // Others neither wait behind it, nor get what it waits for.
    rev.loop.advance(Duration.ofMillis(1));
    assertThat(rev.request().destination()).isEqualTo(C);
    var next = rev.request();
    onB.release();
    rev.loop.run();

    assertThat(some.destination()).isEqualTo(B);
    assertThat(next.waits()).isTrue();
  }

  @Test
  void theOldestGetsAPod_whetherItMayRunOnOneOrSomeOrAny() {
    runsOn(A, B);
    var running = List.of(rev.request(ONLY_A), rev.request(new Bound(B, B)));
    var waiting = new ArrayList<HeldRequest>();
    for (var choice : new PodChoice[]{Some.of(A, B), ONLY_A, Preferred.of(A, B), Some.of(B, A)}) {
      rev.loop.advance(Duration.ofMillis(1));
      waiting.add(rev.request(choice));
    }
    var next = running.getFirst();
    for (var expected : waiting) {
      next.release();
      rev.loop.run();
      assertThat(expected.destination()).isEqualTo(A);
      next = expected;
    }
  }

  @Test
  void aRequestForSomePodsFollowsThem_andFailsOnceAllAreGone() {
    runsOn(A, B);
    rev.request(ONLY_A);
    rev.request(new Bound(B, B));
    var some = rev.request(Some.of(A, C));
    assertThat(some.waits()).isTrue();

    rev.pods(A, B, C);
    assertThat(some.destination()).isEqualTo(C);

    var another = rev.request(Some.of(A, C));
    rev.pods(B);
    assertThat(another.answers()).singleElement().isInstanceOf(Rejection.PodGone.class);
  }

  @Test
  void waitsForItsPodAlthoughAnotherIsFree() {
    runsOn(A, B);
    var onA = rev.request(ONLY_A);

    var bound = rev.request(ONLY_A);

    assertThat(bound.waits()).isTrue();
    assertThat(rev.throttler.inspect(ID).queue().bound().byPod()).isEqualTo(Map.of(A, 1));
    onA.release();
    rev.loop.run();
    assertThat(bound.destination()).isEqualTo(A);
    assertThat(rev.throttler.inspect(ID).queue().bound().byPod()).isEmpty();
  }

  @Test
  void requestsBehindOneThatWaitsForItsPodRunOnOtherPods() {
    runsOn(A, B, C);
    rev.request(ONLY_A);
    rev.request(ONLY_A);

    assertThat(rev.request().destination()).isEqualTo(B);
    assertThat(rev.request(new Bound(C, C)).destination()).isEqualTo(C);
  }

  @Test
  void aReleasedPodGoesToTheOldestRequestThatCanRunThere() {
    runsOn(A);
    var first = rev.request();
    var bound = rev.request(ONLY_A);
    rev.loop.advance(Duration.ofMillis(1));
    var free = rev.request();
    rev.loop.advance(Duration.ofMillis(1));
    var late = rev.request(ONLY_A);

    first.release();
    rev.loop.run();
    assertThat(bound.destination()).isEqualTo(A);
    assertThat(free.waits()).isTrue();

    bound.release();
    rev.loop.run();
    assertThat(free.destination()).isEqualTo(A);
    assertThat(late.waits()).isTrue();

    free.release();
    rev.loop.run();
    assertThat(late.destination()).isEqualTo(A);
  }

  @Test
  void waitsForAnotherPodOnceItsOwnIsGone() {
    runsOn(A, B);
    rev.request(ONLY_A);
    var moved = rev.request(new Bound(A, B));
    assertThat(moved.waits()).isTrue();

    rev.pods(B);

    assertThat(moved.destination()).isEqualTo(B);
  }

  @Test
  void isRejectedOnceItsPodIsGone() {
    runsOn(A, B);
    rev.request(ONLY_A);
    var queued = rev.request(ONLY_A);

    rev.pods(B);

    assertThat(queued.answers()).containsExactly(new Rejection.PodGone(ID));
    assertThat(rev.request(ONLY_A).answers()).containsExactly(new Rejection.PodGone(ID));
    assertThat(rev.view().queued()).isZero();
  }

  @Test
  void isRejectedAtOnceIfNoPodIsThereAnyMore() {
    runsOn();

    assertThat(rev.request(ONLY_A).answers()).containsExactly(new Rejection.PodGone(ID));
    assertThat(rev.request(Preferred.of(A)).waits()).isTrue();
  }

  /** One that waits for a start, as it may run on any pod, or belong to the one that comes. */
  private record BoundOnceThereArePods(Destination pod) implements PodChoice {
    @Override
    public Wanted wanted(List<Destination> pods) {
      return pods.isEmpty() ? ANY : pods.contains(pod) ? new Only(pod) : GONE;
    }

    @Override
    public long score(Destination any) {
      return 0;
    }
  }

  @Test
  void othersRunOnThePodThatStarts_ifOneThatWokeItBelongsToAPodThatIsGone() {
    runsOn();
    var woke = rev.request(new BoundOnceThereArePods(A));
    var other = rev.request();
    assertThat(woke.waits()).isTrue();

    rev.pods(B);

    assertThat(woke.answers()).containsExactly(new Rejection.PodGone(ID));
    assertThat(other.destination()).isEqualTo(B);
    assertThat(rev.view().queued()).isZero();
  }

  @Test
  void waitsForItsPodWhileThatIsEjected() {
    runsOn(A, B);
    var undelivered = rev.request(ONLY_A);

    assertThat(undelivered.retryUnconnected()).isTrue();
    rev.loop.run();
    assertThat(undelivered.waits()).isTrue();
    var behind = rev.request(ONLY_A);
    rev.loop.advance(Duration.ofSeconds(1));

    assertThat(undelivered.destination()).isEqualTo(A);
    assertThat(behind.waits()).isTrue();
  }

  @Test
  void leavesTheQueueWhenItsCallerGivesUp() {
    runsOn(A, B);
    var onA = rev.request(ONLY_A);
    var gone = rev.request(ONLY_A);
    var next = rev.request(ONLY_A);

    gone.giveUp();
    rev.loop.run();
    onA.release();
    rev.loop.run();

    assertThat(next.destination()).isEqualTo(A);
    assertThat(rev.view().queued()).isZero();
  }

  @Test
  void doesNotChooseAmongPodsBehindAClusterIp() {
    rev.requestsChoose();
    rev.clusterIp(C, A, B);

    assertThat(rev.request(ONLY_A).destination()).isEqualTo(C);
  }

  @Test
  void theBalancerChoosesForRequestsWithoutAChoice() {
    runsOn(A, B);

    assertThat(rev.request((PodChoice) null).destination()).isEqualTo(A);
  }

  @Test
  void keepsItsPlaceInTheQueueWhenPodsChange() {
    runsOn(A);
    rev.request();
    var older = rev.request(Preferred.of(A, B));
    rev.loop.advance(Duration.ofMillis(10));
    var younger = rev.request();

    rev.pods(A, B);

    assertThat(older.destination()).isEqualTo(B);
    assertThat(younger.waits()).isTrue();
  }

  @Test
  void theOldestWaitIsThatOfTheOldestAfterPodsChange() {
    runsOn(A, B);
    rev.request();
    rev.request();
    rev.request(Preferred.of(A, B));
    rev.loop.advance(Duration.ofSeconds(10));
    rev.request();

    rev.pods(A);

    assertThat(rev.view().oldestWait()).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void theOldestWaitCountsARequestBehindOneThatWasReturned() {
    runsOn(A);
    var first = rev.request(ONLY_A);
    rev.request(ONLY_A);
    rev.loop.advance(Duration.ofSeconds(10));

    assertThat(first.retryUnconnected()).isTrue();
    rev.loop.run();

    assertThat(rev.view().oldestWait()).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void runsOnAnIdlePodAlthoughTheQueueIsFullOfRequestsForAnother() {
    var full = new OneRevision(1, "activator.dev/queue-capacity", "3");
    full.requestsChoose();
    full.pods(A, B);
    full.request(ONLY_A);
    for (int i = 0; i < 3; i++) {
      assertThat(full.request(ONLY_A).waits()).isTrue();
    }

    assertThat(full.request().answers()).containsExactly(B);
    assertThat(full.request(ONLY_A).waits()).isFalse();
  }

  @Test
  void runsOnAnIdlePodAlthoughOneOnItsWayToTheFullQueueWaitsForAnother() {
    var full = new OneRevision(1, "activator.dev/queue-capacity", "1");
    full.requestsChoose();
    full.pods(A, B);
    full.request(ONLY_A);
    var bound = new HeldRequest(full.loop).choosing(ONLY_A);
    var free = new HeldRequest(full.loop);
    var late = new HeldRequest(full.loop);

    // None of them is in its place before the loop runs.
    for (var request : List.of(bound, free, late)) {
      request.received(full.admit(request));
    }
    full.loop.run();

    assertThat(bound.waits()).isTrue();
    assertThat(free.answers()).containsExactly(B);
    assertThat(late.answers()).singleElement().isInstanceOf(Rejection.QueueFull.class);
  }

  @Test
  void runsOnAnIdlePodBesideOneThatWaitsForAnotherEvenIfItMayNotWait() {
    runsOn(A, B);
    rev.request(ONLY_A);
    rev.request(ONLY_A);
    rev.throttler.choose(rev.revisions.of(ID), _ -> null);

    var decision = rev.admit(new QueuedCaller() {
      @Override
      public Loop loop() {
        return rev.loop;
      }

      @Override
      public boolean mayWait() {
        return false;
      }

      @Override
      public void granted(Permit now) {}

      @Override
      public void rejected(Rejection reason) {}
    });

    assertThat(decision).isInstanceOf(Permit.class);
    ((Permit) decision).release(Ending.ANSWERED);
  }

  @Test
  void aReturnedRequestRunsBeforeOneThatWaitsForThatPod() {
    runsOn(A, B);
    var onA = rev.request(ONLY_A);
    var onB = rev.request();
    rev.loop.advance(Duration.ofMillis(1));
    var bound = rev.request(ONLY_A);
    rev.loop.advance(Duration.ofMillis(1));
    onB.retryUnconnected();
    rev.loop.run();

    onA.release();
    rev.loop.run();

    assertThat(onB.destination()).isEqualTo(A);
    assertThat(bound.waits()).isTrue();
  }

  @Test
  void returnedRequestsForOnePodRunInTheOrderOfTheirReturn() {
    var two = new OneRevision(2);
    two.requestsChoose();
    two.pods(A, B);
    var one = two.request(ONLY_A);
    var other = two.request(ONLY_A);
    one.retryUnconnected();
    two.loop.run();
    two.loop.advance(Duration.ofMillis(1));
    other.retryUnconnected();
    two.loop.run();
    two.changes(1);

    two.loop.advance(Duration.ofSeconds(1));

    assertThat(one.destination()).isEqualTo(A);
    assertThat(other.waits()).isTrue();
  }

  @Test
  void callersThatLeaveTheQueueOfOnePodDoNotChangeTheOrderOfTheOthers() {
    var many = new OneRevision(1);
    many.requestsChoose();
    many.pods(A, B, C);
    many.request(ONLY_A);
    for (int i = 0; i < 200; i++) {
      var hot = many.request(ONLY_A);
      many.loop.advance(Duration.ofMillis(500));
      hot.giveUp();
      many.loop.run();
    }

    assertThat(many.view().newestFirst()).isFalse();
  }

  @Test
  void aRequestForOnePodDoesNotRunBeforeANewerOneWhileTheNewestIsFirst() {
    runsOn(A);
    var onA = rev.request();
    callersLeaveUntilTheNewestIsFirst();
    var bound = rev.request(ONLY_A);
    rev.loop.advance(Duration.ofMillis(1));
    var newest = rev.request();

    onA.release();
    rev.loop.run();
    assertThat(newest.destination()).isEqualTo(A);
    newest.release();
    rev.loop.run();

    assertThat(bound.destination()).isEqualTo(A);
  }

  @Test
  void aRequestForOnePodRunsBeforeOlderOnesWhileTheNewestIsFirst() {
    runsOn(A);
    var onA = rev.request();
    callersLeaveUntilTheNewestIsFirst();
    var older = rev.request();
    rev.loop.advance(Duration.ofMillis(1));
    rev.request(ONLY_A);
    rev.loop.advance(Duration.ofMillis(1));
    var bound = rev.request(ONLY_A);

    onA.release();
    rev.loop.run();

    assertThat(bound.destination()).isEqualTo(A);
    assertThat(older.waits()).isTrue();
  }

  @Test
  void doesNotOvertakeARequestThatWaitsForThatPod() {
    runsOn(A, B);
    var onA = rev.request(ONLY_A);
    var bound = rev.request(ONLY_A);
    rev.request();

    onA.release();
    var younger = rev.request();

    assertThat(bound.destination()).isEqualTo(A);
    assertThat(younger.waits()).isTrue();
  }

  @Test
  void aPodGetsNoRequestsAfterOneThatIsRejectedCouldNotBeDeliveredToIt() {
    runsOn(A, B);
    var undelivered = rev.request();
    rev.request();
    var waiting = rev.request();
    rev.throttler.choose(rev.revisions.of(ID), _ -> new Bound(C, C));

    undelivered.retryUnconnected();
    rev.loop.run();

    assertThat(undelivered.answers()).endsWith(new Rejection.PodGone(ID));
    assertThat(waiting.waits()).isTrue();
    assertThat(rev.unreachable).containsExactly(A);
  }
}
