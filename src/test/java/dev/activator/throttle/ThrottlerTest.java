package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PodTransport;
import dev.activator.revision.PortProtocol;
import dev.activator.testing.Make;
import dev.activator.testing.VirtualLoop;
import dev.activator.loop.Loop;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.policy.WaitLimits;
import dev.activator.throttle.ThrottleView.PodLoad;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What comes together for a request to run, in whatever order it comes. */
class ThrottlerTest extends ThrottlerScene {
  @Test
  @DisplayName("a request runs at once where a pod is free")
  void aRequestRunsAtOnceWhereAPodIsFree() {
    exists(1);
    pods(A);

    var caller = new HeldRequest(loop);
    var admission = throttler.admit(exist.of(ID), caller);
    caller.received(admission);

    assertThat(admission).isInstanceOfSatisfying(Permit.class,
        permit -> assertThat(permit.destination()).isEqualTo(A));
  }

  @Test
  void aPermitSaysHowItsPodIsReached_whateverTheNextPortSpeaks() {
    exists(1);
    var tls = new PodTransport(PortProtocol.NEGOTIATED, new PodIdentity.OfService("web", "ca"));
    throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(A)).over(tls));
    loop.run();
    var before = permit();

    throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(B)));
    loop.run();

    assertThat(before.destination()).isEqualTo(A);
    assertThat(before.transport()).isEqualTo(tls);
    assertThat(permit().transport()).isEqualTo(PodTransport.PLAIN);
  }

  private Permit permit() {
    return (Permit) throttler.admit(exist.of(ID), new HeldRequest(loop));
  }

  @Test
  @DisplayName("a request waits for the first pod")
  void aRequestWaitsForTheFirstPod() {
    exists(0);
    var held = request();
    assertThat(held.waits()).isTrue();

    pods(A);

    assertThat(held.answers()).containsExactly(A);
  }

  @Test
  void aRequestMayComeBeforeTheEventOfItsRevision() {
    exist.put(revision);
    var held = request();

    pods(A);

    assertThat(held.answers()).containsExactly(A);
  }

  @Test
  void destinationsMayComeBeforeTheEventOfTheRevision() {
    exist.put(revision);
    pods(A);

    assertThat(request().answers()).containsExactly(A);
  }

  @Test
  @DisplayName("news of a revision that does not exist is dropped")
  void eventsOfARevisionThatDoesNotExistAreDropped() {
    pods(A);
    activators(OWN);

    assertThat(throttler.views()).isEmpty();
  }

  @Test
  void aRevisionCreatedAgainWithAnotherConcurrencyKeepsItsQueue() {
    exists(1);
    pods(A);
    var held = requests(3);
    assertThat(destinations(held)).containsExactly(A, null, null);

    exists(2);

    assertThat(destinations(held)).containsExactly(A, A, null);
  }

  @Test
  void manyQueuedRequestsAllRunWhenPodsWithoutALimitStart() {
    var many = Quiescence
        .watch(Make.throttler(exist.live, OWN, ThrottlerOptions.of(10_000),
            new Random(1)));
    var unlimited = exist.put(Revision.of(ID, 0));
    var held = new ArrayList<HeldRequest>();
    for (int i = 0; i < 2_000; i++) {
      var request = new HeldRequest(loop);
      held.add(request.received(many.admit(unlimited, request)));
    }
    many.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(A, B)));
    loop.advance(Duration.ofSeconds(1));

    assertThat(held).allMatch(HeldRequest::runs);
    assertThat(many.view(ID).queued()).isZero();
  }

  @Test
  void aQueuedRequestKnowsForHowLongThereHaveBeenPods() {
    exists(1);
    var early = (QueueEntry) throttler.admit(exist.of(ID), new HeldRequest(loop));
    loop.advance(Duration.ofSeconds(7));
    assertThat(early.podsNanos()).isEqualTo(WaitLimits.NO_PODS);

    pods(A);
    loop.advance(Duration.ofSeconds(5));
    pods(A, B);
    loop.advance(Duration.ofSeconds(4));
    assertThat(early.podsNanos()).isEqualTo(Duration.ofSeconds(9).toNanos());

    pods();
    assertThat(early.podsNanos()).isEqualTo(WaitLimits.NO_PODS);
    pods(B);
    loop.advance(Duration.ofSeconds(2));
    assertThat(early.podsNanos()).isEqualTo(Duration.ofSeconds(2).toNanos());
  }

  @Test
  void aPodThatRefusedAConnectionOnceIsStillThere() {
    exists(1);
    pods(A);
    var permit = (Permit) throttler.admit(exist.of(ID), new HeldRequest(loop));
    loop.advance(Duration.ofSeconds(5));

    var again = permit.retry(new HeldRequest(loop), false);
    loop.run();

    assertThat(throttler.view(ID).capacity()).isZero();
    assertThat(again.podsNanos()).isEqualTo(Duration.ofSeconds(5).toNanos());
    again.giveUp();
    loop.run();
  }

  @Test
  void aViewShowsTheState() {
    exists(2);
    pods(A, B);
    requests(5);
    loop.advance(Duration.ofSeconds(3));
    request();

    assertThat(throttler.view(ID))
        .isEqualTo(new ThrottleView(ID, 2, 4, 4, 2, Duration.ofSeconds(3), false,
            List.of(new PodLoad(A, 2), new PodLoad(B, 2))));
    assertThat(throttler.views()).containsExactly(throttler.view(ID));
  }

  @Test
  @DisplayName("releasing a permit twice is a bug")
  void releasingAPermitTwiceIsABug() {
    exists(1);
    pods(A);
    var permit = (Permit) throttler.admit(exist.of(ID), new HeldRequest(loop));
    permit.release(Ending.ANSWERED);

    assertThatThrownBy(() -> permit.release(Ending.ANSWERED))
        .hasMessageContaining("128.0.0.1:1234");
  }

  @Test
  void reportsAtOnceThatARequestWaitsAndThenOnceASecond() {
    var waiting = new ArrayList<RevisionId>();
    throttler.requestWaits().subscribe("test", now -> waiting.add(now.revision()));
    exists(1);
    pods(A);
    var running = (Permit) throttler.admit(exist.of(ID), new HeldRequest(loop));
    loop.run();
    assertThat(waiting).isEmpty();

    requests(3);
    assertThat(waiting).containsExactly(ID);
    loop.advance(Duration.ofMillis(2_500));
    assertThat(waiting).hasSize(3);

    running.release(Ending.ANSWERED);
    pods(A, B, C);
    loop.advance(Duration.ofSeconds(5));
    assertThat(waiting).hasSize(3);
  }

  @Test
  void namesTheLoopOfTheFirstRequestThatWaits() {
    var waitsOn = new ArrayList<Loop>();
    throttler.requestWaits().subscribe("test", now -> waitsOn.add(now.on()));
    exists(1);
    var other = new VirtualLoop();
    var first = new HeldRequest(other);
    first.received(throttler.admit(exist.of(ID), first));
    var second = new HeldRequest(loop);
    second.received(throttler.admit(exist.of(ID), second));
    loop.run();

    assertThat(waitsOn).containsExactly(other);
  }

  @Test
  void reportsRequestsThatAreRejectedSinceNoPodIsReachable() {
    var waiting = new ArrayList<RevisionId>();
    throttler.requestWaits().subscribe("test", now -> waiting.add(now.revision()));
    exists(1);
    throttler.onDestinations(HealthyDestinations.givenUp(ID));
    loop.run();

    requests(3);

    assertThat(waiting).containsExactly(ID);
  }

  @Test
  void callsTheListenerOnceASecondWhileRequestsAreQueuedAndNoneCanRun() {
    var starved = new ArrayList<RevisionId>();
    throttler.starved().subscribe("test", starved::add);
    exists(1);
    request();
    loop.advance(Duration.ofMillis(999));
    assertThat(starved).isEmpty();

    loop.advance(Duration.ofMillis(2_500));
    assertThat(starved).containsExactly(ID, ID, ID);

    // and no longer once something can run
    pods(A);
    request();
    loop.advance(Duration.ofSeconds(5));
    assertThat(starved).hasSize(3);
  }
}
