package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Protocol;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import dev.activator.revision.StartTrouble;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleView.PodView;
import dev.activator.throttle.admission.Permit;
import dev.activator.throttle.admission.Rejection;
import dev.activator.throttle.policy.Tuning;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ThrottlerTest {
  private static final RevisionId ID = new RevisionId("test-namespace", "test-revision");
  private static final Destination A = new Destination("128.0.0.1", 1234);
  private static final Destination B = new Destination("128.0.0.2", 1234);
  private static final Destination C = new Destination("128.0.0.3", 1234);
  private static final Destination CLUSTER_IP = new Destination("129.0.0.1", 1234);
  private static final String OWN = "130.0.0.2";
  private static final StartFailure CRASH = new StartFailure("ExitCode1", "it crashed", "t1");

  private final VirtualLoop loop = new VirtualLoop();
  private final Map<RevisionId, Revision> exist = new HashMap<>();
  private final Throttler throttler = new Throttler(id -> loop, exist::get, OWN, Tuning.of(3),
      new Random(1));

  private Revision revision = Revision.of(ID, 1);

  private void exists(int containerConcurrency) {
    revision = Revision.of(ID, containerConcurrency);
    exist.put(ID, revision);
    throttler.revision(revision);
    loop.run();
  }

  private void failsToStart(@Nullable StartFailure failure) {
    revision = new Revision(ID, "", revision.protocol(), revision.containerConcurrency(),
        RequestTimeouts.DEFAULT, true, Map.of(), Map.of(), failure);
    throttler.revision(revision);
    loop.run();
  }

  private void pods(Destination... pods) {
    throttler.destinations(HealthyDestinations.pods(ID, Destinations.of(pods)));
    loop.run();
  }

  private void clusterIp(Destination... readyPods) {
    throttler.destinations(new HealthyDestinations(ID, CLUSTER_IP, Destinations.of(readyPods)));
    loop.run();
  }

  private void activators(String... addresses) {
    throttler.publicAddresses(new PublicAddresses(ID, List.of(addresses), List.of()));
    loop.run();
  }

  private HeldRequest request() {
    var request = new HeldRequest(loop);
    request.told(throttler.admit(revision, request));
    loop.run();
    return request;
  }

  private List<HeldRequest> requests(int count) {
    return IntStream.range(0, count).mapToObj(i -> request()).toList();
  }

  private static List<@Nullable Destination> destinations(List<HeldRequest> requests) {
    var all = new ArrayList<@Nullable Destination>();
    requests.forEach(request -> all.add(request.destination()));
    return all;
  }

  @Test
  @DisplayName("TH-21 BR-05: a request runs at once where a pod is free")
  void aRequestRunsAtOnceWhereAPodIsFree() {
    exists(1);
    pods(A);

    var admission = throttler.admit(revision, new HeldRequest(loop));

    assertThat(admission).isInstanceOfSatisfying(Permit.class,
        permit -> assertThat(permit.destination()).isEqualTo(A));
  }

  @Test
  @DisplayName("TH-46 TH-52 IB-01 IB-05: a request waits for the first pod")
  void aRequestWaitsForTheFirstPod() {
    exists(0);
    var held = request();
    assertThat(held.waits()).isTrue();

    pods(A);

    assertThat(held.answers()).containsExactly(A);
  }

  @Test
  void aRequestMayComeBeforeTheNewsOfItsRevision() {
    exist.put(ID, revision);
    var held = request();

    pods(A);

    assertThat(held.answers()).containsExactly(A);
  }

  @Test
  void destinationsMayComeBeforeTheNewsOfTheRevision() {
    exist.put(ID, revision);
    pods(A);

    assertThat(request().answers()).containsExactly(A);
  }

  @Test
  @DisplayName("TH-45: news of a revision that does not exist is dropped")
  void newsOfARevisionThatDoesNotExistIsDropped() {
    pods(A);
    activators(OWN);

    assertThat(throttler.views()).isEmpty();
  }

  @Test
  void addressesMayComeBeforeTheirRevision() {
    activators("130.0.0.1", OWN);

    exists(1);
    pods(A, B, C);

    assertThat(throttler.view(ID).capacity()).isEqualTo(1);
  }

  @Test
  void addressesOfARevisionThatWasDeletedAreForgotten() {
    activators("130.0.0.1", OWN);
    throttler.revisionGone(ID);

    exists(1);
    pods(A, B, C);

    assertThat(throttler.view(ID).capacity()).isEqualTo(3);
  }

  @Test
  @DisplayName("TH-25: the same pods twice are not twice the capacity")
  void theSamePodsTwiceAreNotTwiceTheCapacity() {
    exists(1);
    pods(A);
    pods(A);

    assertThat(destinations(requests(2))).containsExactly(A, null);
  }

  @Test
  @DisplayName("TH-26: requests go only where pods still are")
  void requestsGoOnlyWherePodsStillAre() {
    exists(0);
    pods(B, C);
    pods(A);

    assertThat(destinations(requests(10))).containsOnly(A);
    assertThat(throttler.view(ID).pods()).containsExactly(new PodView(A, 10));
  }

  @Test
  @DisplayName("TH-24 TH-27: the service takes over from pods")
  void theServiceTakesOverFromPods() {
    exists(1);
    pods(A, B);
    clusterIp(A);

    assertThat(destinations(requests(2))).containsExactly(CLUSTER_IP, null);
  }

  @Test
  @DisplayName("TH-31: the service takes as many as its ready pods can")
  void theServiceTakesAsManyAsItsReadyPodsCan() {
    exists(1);
    clusterIp(A, B);

    assertThat(destinations(requests(3))).containsExactly(CLUSTER_IP, CLUSTER_IP, null);
  }

  @Test
  @DisplayName("TH-51: the service takes none while no pod is ready")
  void theServiceTakesNoneWhileNoPodIsReady() {
    exists(1);
    clusterIp();

    assertThat(request().waits()).isTrue();
  }

  @Test
  @DisplayName("TH-28: each of two pods takes one")
  void eachOfTwoPodsTakesOne() {
    exists(1);
    pods(C);
    pods(A, B);

    assertThat(destinations(requests(2))).containsExactly(A, B);
  }

  @Test
  @DisplayName("TH-29: small pods fill up one after the other")
  void smallPodsFillUpOneAfterTheOther() {
    exists(3);
    pods(A, B, C);

    assertThat(destinations(requests(4))).containsExactly(A, A, A, B);
  }

  @Test
  @DisplayName("TH-30: larger pods take turns")
  void largerPodsTakeTurns() {
    exists(5);
    pods(A, B, C);

    assertThat(destinations(requests(4))).containsExactly(A, B, C, A);
    assertThat(throttler.view(ID).capacity()).isEqualTo(15);
  }

  @Test
  @DisplayName("TH-38: an activator among others uses its share")
  void anActivatorAmongOthersUsesItsShare() {
    exists(1);
    activators("130.0.0.1", OWN);
    pods(A, B, C);

    // three pods among two activators: the second gets one
    assertThat(destinations(requests(2))).containsExactly(B, null);
  }

  @Test
  @DisplayName("TH-32 TH-37 BR-16: the share grows when another activator leaves")
  void theShareGrowsWhenAnotherActivatorLeaves() {
    exists(1);
    pods(A, B, C);
    activators("130.0.0.1", OWN);
    var held = requests(3);
    assertThat(destinations(held)).containsExactly(B, null, null);

    activators(OWN);

    assertThat(destinations(held)).containsExactly(B, A, C);
  }

  @Test
  @DisplayName("TH-43: the share stays when the own address leaves the path")
  void theShareStaysWhenTheOwnAddressLeavesThePath() {
    exists(1);
    pods(A, B, C);
    activators("130.0.0.1", OWN);
    activators("130.0.0.1");

    assertThat(throttler.view(ID).capacity()).isEqualTo(1);
  }

  @Test
  @DisplayName("TH-36: activators are counted on the revisions own port")
  void activatorsAreCountedOnTheRevisionsOwnPort() {
    revision = new Revision(ID, "", Protocol.H2C, 1, RequestTimeouts.DEFAULT, true, Map.of(),
        Map.of(), null);
    exist.put(ID, revision);
    pods(A, B, C);
    throttler.publicAddresses(
        new PublicAddresses(ID, List.of(OWN), List.of("130.0.0.1", OWN)));
    loop.run();

    assertThat(throttler.view(ID).capacity()).isEqualTo(1);
  }

  @Test
  @DisplayName("BR-06 BR-08 BR-09 BR-13: permits are handed over in order of arrival")
  void permitsAreHandedOverInOrderOfArrival() {
    exists(1);
    pods(A);
    var held = requests(3);
    assertThat(destinations(held)).containsExactly(A, null, null);

    held.get(0).release();
    loop.run();
    assertThat(destinations(held)).containsExactly(null, A, null);

    held.get(1).release();
    loop.run();
    assertThat(destinations(held)).containsExactly(null, null, A);
  }

  @Test
  void aNewcomerDoesNotOvertakeWhoWaits() {
    exists(1);
    pods(A);
    var held = requests(2);

    // when the permit is back but nobody has been called yet
    held.get(0).release();
    var newcomer = request();

    assertThat(held.get(1).answers()).containsExactly(A);
    assertThat(newcomer.waits()).isTrue();
  }

  @Test
  @DisplayName("TH-48 BR-14: a permit that comes back on the way to the queue is not missed")
  void aPermitThatComesBackOnTheWayToTheQueueIsNotMissed() {
    exists(1);
    pods(A);
    var first = request();

    // given a request that found no permit, and has not reached the queue
    var second = new HeldRequest(loop);
    second.told(throttler.admit(revision, second));
    first.release();
    loop.run();

    assertThat(second.answers()).containsExactly(A);
  }

  @Test
  @DisplayName("BR-10 IB-02 IB-04: who gives up is not called and loses its turn")
  void whoGivesUpIsNotCalledAndLosesItsTurn() {
    exists(1);
    pods(A);
    var held = requests(3);

    held.get(1).giveUp();
    held.get(0).release();
    loop.run();

    assertThat(held.get(1).waits()).isTrue();
    assertThat(held.get(2).answers()).containsExactly(A);
    assertThat(throttler.view(ID).queued()).isZero();
  }

  @Test
  void aPermitOnItsWayToOneWhoGaveUpGoesToTheNext() {
    var requestLoop = new VirtualLoop();
    exists(1);
    var first = new HeldRequest(requestLoop);
    first.told(throttler.admit(revision, first));
    var second = new HeldRequest(requestLoop);
    second.told(throttler.admit(revision, second));

    // given a grant that has left the revision's loop and not arrived
    pods(A);
    first.giveUp();
    requestLoop.run();
    loop.run();
    requestLoop.run();

    assertThat(first.answers()).isEmpty();
    assertThat(second.answers()).containsExactly(A);
    assertThat(throttler.view(ID).inFlight()).isOne();
  }

  @Test
  @DisplayName("IB-03 BR-19: giving up after the call changes nothing")
  void givingUpAfterTheCallChangesNothing() {
    exists(1);
    var held = request();
    pods(A);

    held.giveUp();
    loop.run();

    assertThat(held.answers()).containsExactly(A);
    assertThat(throttler.view(ID).inFlight()).isOne();
  }

  @Test
  @DisplayName("BR-07 BR-11: no more wait than may")
  void noMoreWaitThanMay() {
    exists(1);
    var held = requests(4);

    assertThat(held.get(3).answers()).singleElement()
        .isInstanceOf(Rejection.QueueFull.class);
    assertThat(throttler.view(ID).queued()).isEqualTo(3);

    held.get(1).giveUp();
    loop.run();
    assertThat(request().waits()).isTrue();
  }

  @Test
  void aFullQueueIsToldOnTheWaitersLoopAndNotInsideTheCall() {
    exists(1);
    requests(3);
    var tooMany = new HeldRequest(loop);

    tooMany.told(throttler.admit(revision, tooMany));

    assertThat(tooMany.answers()).isEmpty();
    loop.run();
    assertThat(tooMany.answers()).singleElement()
        .isInstanceOf(Rejection.QueueFull.class);
  }

  @Test
  @DisplayName("TH-47 BR-18: a shrinking capacity lets running requests finish")
  void aShrinkingCapacityLetsRunningRequestsFinish() {
    exists(1);
    pods(A, B);
    var held = requests(3);

    pods(A);
    held.get(1).release();
    loop.run();
    assertThat(held.get(2).waits()).isTrue();

    held.get(0).release();
    loop.run();
    assertThat(held.get(2).answers()).containsExactly(A);
  }

  @Test
  @DisplayName("TH-50: a pod that comes back still carries what runs on it")
  void aPodThatComesBackStillCarriesWhatRunsOnIt() {
    exists(1);
    pods(A);
    var running = request();

    pods();
    pods(A);
    var held = request();
    assertThat(held.waits()).isTrue();

    running.release();
    loop.run();
    assertThat(held.answers()).containsExactly(A);
  }

  @Test
  @DisplayName("BR-12: a pod that left is forgotten once nothing runs on it")
  void aPodThatLeftIsForgottenOnceNothingRunsOnIt() {
    exists(1);
    pods(A);
    var running = request();
    pods();
    assertThat(throttler.view(ID).pods()).containsExactly(new PodView(A, 1));

    running.release();
    loop.run();

    assertThat(throttler.view(ID).pods()).isEmpty();
  }

  @Test
  @DisplayName("TH-23: a deleted revision rejects who waits at once")
  void aDeletedRevisionRejectsWhoWaitsAtOnce() {
    exists(1);
    pods(A);
    var held = requests(2);

    exist.remove(ID);
    throttler.revisionGone(ID);
    loop.run();

    assertThat(held.get(1).answers()).containsExactly(new Rejection.RevisionGone(ID));
    assertThat(throttler.view(ID)).isNull();
    held.get(0).release();
    loop.run();
  }

  @Test
  void aRequestThatLostTheRaceAgainstADeletionIsRejected() {
    // given a request that looked the revision up before it was deleted, and asks after
    exists(1);
    exist.remove(ID);
    throttler.revisionGone(ID);
    loop.run();

    assertThat(request().answers()).containsExactly(new Rejection.RevisionGone(ID));
    assertThat(throttler.views()).isEmpty();
  }

  @Test
  void aRequestOnItsWayToTheQueueOfADeletedRevisionIsRejected() {
    exists(1);
    throttler.revisionGone(ID);
    exist.remove(ID);

    assertThat(request().answers()).containsExactly(new Rejection.RevisionGone(ID));
  }

  @Test
  void aNewStartFailureRejectsWhoWaitsNow() {
    exists(1);
    var held = requests(2);

    failsToStart(CRASH);

    for (var request : held) {
      assertThat(request.answers()).containsExactly(new Rejection.CannotStart(ID, CRASH));
    }
    assertThat(throttler.view(ID).queued()).isZero();
  }

  @Test
  void aStartFailureAlreadyKnownRejectsNobody() {
    exists(1);
    failsToStart(CRASH);
    var held = request();

    failsToStart(CRASH);
    failsToStart(null);
    failsToStart(CRASH);
    assertThat(held.waits()).isTrue();

    var again = new StartFailure("ExitCode1", "it crashed", "t2");
    failsToStart(again);
    assertThat(held.answers()).containsExactly(new Rejection.CannotStart(ID, again));
  }

  @Test
  void aStartFailureBesideARunningPodRejectsNobody() {
    exists(1);
    pods(A);
    var held = requests(2);

    failsToStart(CRASH);
    held.get(0).release();
    loop.run();

    assertThat(held.get(1).answers()).containsExactly(A);
  }

  @Test
  void aRevisionMadeAnewWithAnotherConcurrencyKeepsItsQueue() {
    exists(1);
    pods(A);
    var held = requests(3);
    assertThat(destinations(held)).containsExactly(A, null, null);

    exists(2);

    assertThat(destinations(held)).containsExactly(A, A, null);
  }

  @Test
  void manyWhoWaitAllRunWhenPodsComeWithoutALimit() {
    var many = new Throttler(id -> loop, exist::get, OWN, Tuning.of(10_000), new Random(1));
    exist.put(ID, Revision.of(ID, 0));
    var held = new ArrayList<HeldRequest>();
    for (int i = 0; i < 2_000; i++) {
      var request = new HeldRequest(loop);
      held.add(request.told(many.admit(Revision.of(ID, 0), request)));
    }
    many.destinations(HealthyDestinations.pods(ID, Destinations.of(A, B)));
    loop.advance(Duration.ofSeconds(1));

    assertThat(held).allMatch(HeldRequest::runs);
    assertThat(many.view(ID).queued()).isZero();
  }

  @Test
  void saysWhatIsSo() {
    exists(2);
    pods(A, B);
    requests(5);
    loop.advance(Duration.ofSeconds(3));
    request();

    assertThat(throttler.view(ID)).isEqualTo(new ThrottleView(ID, 2, 4, 4, 2, Duration.ofSeconds(3),
        List.of(new PodView(A, 2), new PodView(B, 2))));
    assertThat(throttler.views()).containsExactly(throttler.view(ID));
  }

  @Test
  @DisplayName("BR-15: releasing a permit twice is a bug")
  void releasingAPermitTwiceIsABug() {
    exists(1);
    pods(A);
    var permit = (Permit) throttler.admit(revision, new HeldRequest(loop));
    permit.release();

    assertThatThrownBy(permit::release).hasMessageContaining("128.0.0.1:1234");
  }

  @Test
  void saysOnceASecondThatRequestsWaitWhileNothingCanRun() {
    var starved = new ArrayList<RevisionId>();
    throttler.onStarved(starved::add);
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

  @Test
  void rejectsWhoWaitsForPodsThatWillNotStartUntilTheyMay() {
    // given a request, and pods that say that they will not start
    exists(1);
    var first = request();
    throttler.startTrouble(new StartTrouble(ID, CRASH));
    loop.run();
    assertThat(first.answers()).containsExactly(new Rejection.CannotStart(ID, CRASH));

    // when another comes, then it is rejected within a second
    var second = request();
    assertThat(second.answers()).isEmpty();
    loop.advance(Duration.ofSeconds(1));
    assertThat(second.answers()).containsExactly(new Rejection.CannotStart(ID, CRASH));

    // and when they may start again, then it waits
    throttler.startTrouble(new StartTrouble(ID, null));
    var third = request();
    loop.advance(Duration.ofSeconds(5));
    assertThat(third.answers()).isEmpty();
    pods(A);
    assertThat(third.runs()).isTrue();

    // and while something runs nobody is rejected
    throttler.startTrouble(new StartTrouble(ID, CRASH));
    var fourth = request();
    loop.advance(Duration.ofSeconds(5));
    assertThat(fourth.answers()).isEmpty();
  }
}
