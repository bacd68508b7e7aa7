package dev.activator.throttle;

import static dev.activator.throttle.OneRevision.A;
import static dev.activator.throttle.OneRevision.B;
import static dev.activator.throttle.OneRevision.C;
import static dev.activator.throttle.OneRevision.ID;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Pods that serve the requests of one tenant at a time. */
class ExclusivePodsTest {
  /** A request of a tenant, which prefers the pods in their order. */
  private record Of(String tenant) implements PodChoice {
    @Override
    public Wanted wanted(List<Destination> pods) {
      return ANY;
    }

    @Override
    public long score(Destination pod) {
      return -List.of(A, B, C).indexOf(pod);
    }
  }

  /** The same, on some pods only. */
  private record OfSome(String tenant, Set<Destination> pods, Runnable onScore)
      implements PodChoice {
    OfSome(String tenant, Destination... pods) {
      this(tenant, Set.of(pods), () -> {
      });
    }

    @Override
    public Wanted wanted(List<Destination> now) {
      return new AnyOf(pods);
    }

    @Override
    public long score(Destination pod) {
      onScore.run();
      return -List.of(A, B, C).indexOf(pod);
    }
  }

  /** The same, on one pod while that exists. */
  private record While(String tenant, Destination pod) implements PodChoice {
    @Override
    public Wanted wanted(List<Destination> now) {
      return now.contains(pod) ? new AnyOf(Set.of(pod)) : GONE;
    }

    @Override
    public long score(Destination other) {
      return 0;
    }
  }

  private static final PodChoice RED = new Of("red");
  private static final PodChoice BLUE = new Of("blue");
  private static final PodChoice GREEN = new Of("green");

  private OneRevision rev = new OneRevision(0);

  private void runsOn(Destination... pods) {
    exclusive(true);
    rev.pods(pods);
  }

  private void exclusive(boolean now) {
    rev.throttler.choose(rev.revisions.of(ID), new PodChoice.Maker() {
      @Override
      public @Nullable PodChoice of(QueuedCaller caller) {
        return ((HeldRequest) caller).choice();
      }

      @Override
      public boolean isExclusive() {
        return now;
      }
    });
    rev.loop.run();
  }

  private HeldRequest ends(HeldRequest request) {
    request.release();
    rev.loop.run();
    return request;
  }

  @Test
  void requestsOfOneTenantShareAPod_andThoseOfAnotherGetTheNext() {
    runsOn(A, B);

    assertThat(rev.request(RED).destination()).isEqualTo(A);
    assertThat(rev.request(BLUE).destination()).isEqualTo(B);
    assertThat(rev.request(RED).destination()).isEqualTo(A);
    assertThat(rev.request(BLUE).destination()).isEqualTo(B);
    assertThat(rev.request(GREEN).waits()).isTrue();
  }

  @Test
  void aTenantHasOnePod_alsoIfItsRequestsMayRunOnSomePodsOnly() {
    runsOn(A, B, C);
    var first = rev.request(new OfSome("red", B, C));
    assertThat(first.destination()).isEqualTo(B);
    var second = rev.request(new OfSome("red", B, C));
    assertThat(second.destination()).isEqualTo(B);

    // Its pod is none of these, so it waits until the tenant has none.
    var other = rev.request(new OfSome("red", A, C));
    assertThat(other.waits()).isTrue();
    var behind = rev.request(RED);
    assertThat(behind.waits()).isTrue();
    assertThat(rev.request(BLUE).destination()).isEqualTo(A);
    ends(first);
    assertThat(other.waits()).isTrue();

    ends(second);

    assertThat(other.destination()).isEqualTo(C);
    assertThat(behind.destination()).isEqualTo(C);
  }

  @Test
  void waitingTenantsGetAnyOfTheirPods_andOthersTheRest() {
    runsOn(A, B);
    var red = rev.request(RED);
    var blue = rev.request(BLUE);
    var green = rev.request(new OfSome("green", A, B));
    var same = rev.request(new OfSome("green", B));
    var another = rev.request(new OfSome("white", A, B));

    ends(blue);
    assertThat(green.destination()).isEqualTo(B);
    assertThat(same.destination()).isEqualTo(B);
    assertThat(another.waits()).isTrue();
    ends(red);
    assertThat(another.destination()).isEqualTo(A);
  }

  @Test
  void aPodIsFreeForAnotherOnceNoRequestOfItsTenantRuns() {
    runsOn(A);
    var first = rev.request(RED);
    var second = rev.request(RED);
    var blue = rev.request(BLUE);

    ends(first);
    assertThat(blue.waits()).isTrue();
    ends(second);

    assertThat(blue.destination()).isEqualTo(A);
  }

  @Test
  void aTenantKeepsItsPodWhileItsRequestsOverlap() {
    runsOn(A);
    var red = rev.request(RED);
    var blue = rev.request(BLUE);
    for (int i = 0; i < 10; i++) {
      var next = rev.request(RED);
      assertThat(next.destination()).isEqualTo(A);
      ends(red);
      red = next;
    }
    assertThat(blue.waits()).isTrue();

    ends(red);

    assertThat(blue.destination()).isEqualTo(A);
  }

  @Test
  void theRequestsOfATenantWaitForItsPodAboveTheLimit_andHoldUpNoOther() {
    rev = new OneRevision(2);
    runsOn(A, B);
    var red = rev.request(RED);
    rev.request(RED);

    var third = rev.request(RED);
    var fourth = rev.request(RED);

    assertThat(third.waits()).isTrue();
    assertThat(rev.request(BLUE).destination()).isEqualTo(B);
    ends(red);
    assertThat(third.destination()).isEqualTo(A);
    assertThat(fourth.waits()).isTrue();
  }

  @Test
  void aTenantGetsAnIdlePod_althoughTheQueueIsFullOfRequestsOfAnother() {
    rev = new OneRevision(1, "activator.dev/queue-capacity", "2");
    runsOn(A, B);
    rev.request(RED);
    rev.request(RED);
    var last = rev.request(RED);
    assertThat(last.waits()).isTrue();

    assertThat(rev.request(BLUE).destination()).isEqualTo(B);
    assertThat(rev.request(RED).answers()).singleElement().isInstanceOf(Rejection.QueueFull.class);
  }

  @Test
  void waitingTenantsGetPodsInOrder_eachWithAllOfItsRequests() {
    runsOn();
    var red = rev.request(RED);
    rev.loop.advance(Duration.ofMillis(1));
    var blue = rev.request(BLUE);
    rev.loop.advance(Duration.ofMillis(1));
    var alsoRed = rev.request(RED);

    rev.pods(A);
    assertThat(red.destination()).isEqualTo(A);
    assertThat(alsoRed.destination()).isEqualTo(A);
    assertThat(blue.waits()).isTrue();
    ends(red);
    ends(alsoRed);

    assertThat(blue.destination()).isEqualTo(A);
  }

  @Test
  void tenantsTakeTurnsIfEachHasMoreRequestsThanAPodTakes() {
    rev = new OneRevision(1);
    runsOn(A);
    var running = rev.request(RED);
    rev.loop.advance(Duration.ofMillis(1));
    var red = rev.request(RED);
    rev.loop.advance(Duration.ofMillis(1));
    var blue = rev.request(BLUE);
    rev.loop.advance(Duration.ofMillis(1));
    var lastRed = rev.request(RED);

    ends(running);
    assertThat(red.destination()).isEqualTo(A);
    ends(red);
    assertThat(blue.destination()).isEqualTo(A);
    ends(blue);

    assertThat(lastRed.destination()).isEqualTo(A);
  }

  @Test
  void aRequestWithoutATenantHasAPodToItself() {
    runsOn(A, B);

    assertThat(rev.request().destination()).isEqualTo(A);
    assertThat(rev.request().destination()).isEqualTo(B);
    assertThat(rev.request().waits()).isTrue();
    assertThat(rev.request(RED).waits()).isTrue();
  }

  @Test
  void theOthersOfATenantStillWaitWhenTheFirstOneLeaves() {
    runsOn(A);
    var blue = rev.request(BLUE);
    var first = rev.request(RED);
    var second = rev.request(RED);
    var third = rev.request(RED);

    first.giveUp();
    rev.loop.run();
    ends(blue);

    assertThat(second.destination()).isEqualTo(A);
    assertThat(third.destination()).isEqualTo(A);
    assertThat(rev.view().queued()).isZero();
  }

  @Test
  void whenTheFirstOfATenantLeaves_theNextGetsAnIdlePodThatTheFirstMayNotUse() {
    runsOn(A, B);
    rev.request(new OfSome("blue", B));
    var first = rev.request(new OfSome("red", B));
    var second = rev.request(RED);
    assertThat(second.waits()).isTrue();

    first.giveUp();
    rev.loop.run();

    assertThat(second.destination()).isEqualTo(A);
    assertThat(rev.view().queued()).isZero();
  }

  @Test
  void whenOneLeavesThatMayNotUseItsTenantsPod_theNextRunsThere() {
    runsOn(A);
    rev.request(RED);
    var first = rev.request(new OfSome("red", B));
    var second = rev.request(RED);
    assertThat(second.waits()).isTrue();

    first.giveUp();
    rev.loop.run();

    assertThat(second.destination()).isEqualTo(A);
    assertThat(rev.view().queued()).isZero();
  }

  @Test
  void aRequestRunsOnNoPodThatItMayNotUse_alsoIfAnotherThreadTakesThatForItsTenantMeanwhile() {
    runsOn(A, B);
    var meanwhile = new ArrayList<HeldRequest>();
    var other = rev.request(new OfSome("red", Set.of(B), () -> {
      if (meanwhile.isEmpty()) {
        meanwhile.add(rev.request(new OfSome("red", A)));
      }
    }));

    assertThat(meanwhile.getFirst().destination()).isEqualTo(A);
    assertThat(other.waits()).isTrue();
    var blue = rev.request(BLUE);
    assertThat(blue.destination()).isEqualTo(B);
    ends(meanwhile.getFirst());
    ends(blue);

    assertThat(other.destination()).isEqualTo(B);
  }

  @Test
  void whenThePodsOfTheFirstOfATenantAreGone_theNextGetsAnotherOne() {
    runsOn(A, B);
    rev.request(BLUE);
    var first = rev.request(new While("red", A));
    var second = rev.request(RED);
    var third = rev.request(new OfSome("red", B));
    assertThat(second.waits()).isTrue();

    rev.pods(B);

    assertThat(first.answers()).singleElement().isInstanceOf(Rejection.PodGone.class);
    assertThat(second.destination()).isEqualTo(B);
    assertThat(third.destination()).isEqualTo(B);
    assertThat(rev.view().queued()).isZero();
  }

  @Test
  void aTenantsPodThatIsListedAgainGetsTheRequestsThatCameMeanwhile() {
    runsOn(A);
    var running = rev.request(RED);
    rev.pods();
    var first = rev.request(RED);
    var second = rev.request(RED);
    assertThat(first.waits()).isTrue();

    rev.pods(A);

    assertThat(first.destination()).isEqualTo(A);
    assertThat(second.destination()).isEqualTo(A);
    ends(running);
    assertThat(rev.request(BLUE).waits()).isTrue();
  }

  @Test
  void aTenantWhosePodIsGoneGetsAnother() {
    rev = new OneRevision(1);
    runsOn(A, B);
    var old = rev.request(RED);
    var waiting = rev.request(RED);
    assertThat(waiting.waits()).isTrue();

    rev.pods(B);

    assertThat(waiting.destination()).isEqualTo(B);
    ends(old);
    assertThat(rev.request(RED).waits()).isTrue();
    ends(waiting);
  }

  @Test
  void aReturnedRequestTakesAnotherPod() {
    runsOn(A, B);
    var undelivered = rev.request(RED);
    var other = rev.request(RED);

    assertThat(undelivered.retryUnconnected()).isTrue();
    rev.loop.run();

    assertThat(undelivered.destination()).isEqualTo(B);
    // The pod is ejected for a moment only, and still runs a request.
    rev.loop.advance(Duration.ofSeconds(1));
    assertThat(rev.request(BLUE).waits()).isTrue();
    ends(other);
    assertThat(rev.view().queued()).isZero();
  }

  @Test
  void requestsThatRunWhenPodsBecomeExclusiveEndFirst() {
    exclusive(false);
    rev.pods(A);
    var before = List.of(rev.request(RED), rev.request(BLUE));

    exclusive(true);
    var red = rev.request(RED);
    assertThat(red.waits()).isTrue();
    before.forEach(this::ends);

    assertThat(red.destination()).isEqualTo(A);
    assertThat(rev.request(BLUE).waits()).isTrue();
  }

  @Test
  void allThatWaitRunOncePodsAreNoLongerExclusive() {
    runsOn(A);
    rev.request(RED);
    var waiting = List.of(rev.request(BLUE), rev.request(BLUE), rev.request(GREEN), rev.request());

    exclusive(false);

    assertThat(waiting).allSatisfy(one -> assertThat(one.destination()).isEqualTo(A));
    assertThat(rev.view().queued()).isZero();
    assertThat(rev.throttler.inspect(ID).queue().bound().byPod()).isEqualTo(Map.of());
  }

  @Test
  void noRequestOfADeletedRevisionStillWaits() {
    runsOn(A);
    rev.request(RED);
    var waiting = List.of(rev.request(BLUE), rev.request(BLUE), rev.request(GREEN));

    rev.throttler.rejectQueued();
    rev.loop.run();

    assertThat(waiting).allSatisfy(one -> assertThat(one.answers()).hasSize(1));
    assertThat(rev.view().queued()).isZero();
  }
}
