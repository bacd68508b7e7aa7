package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.throttle.ThrottleView.PodLoad;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Which pod takes a request, and how many each takes, while pods come and go. */
class ThrottledPodsTest extends ThrottlerScene {
  @Test
  @DisplayName("the same pods twice are not twice the capacity")
  void theSamePodsListedAgainDoNotAddCapacity() {
    exists(1);
    pods(A);
    pods(A);

    assertThat(destinations(requests(2))).containsExactly(A, null);
  }

  @Test
  @DisplayName("requests go only where pods still are")
  void requestsGoOnlyWherePodsStillAre() {
    exists(0);
    pods(B, C);
    pods(A);

    assertThat(destinations(requests(10))).containsOnly(A);
    assertThat(throttler.view(ID).pods()).containsExactly(new PodLoad(A, 10));
  }

  @Test
  @DisplayName("the service takes over from pods")
  void theServiceTakesOverFromPods() {
    exists(1);
    pods(A, B);
    clusterIp(A);

    assertThat(destinations(requests(2))).containsExactly(CLUSTER_IP, null);
  }

  @Test
  void theServiceIsNoPod_alsoForRequestsThatHaveWaited() {
    exists(1);
    clusterIp();
    var waits = request();
    loop.advance(Duration.ofSeconds(1));
    clusterIp(A);

    assertThat(waits.destination()).isEqualTo(CLUSTER_IP);
    assertThat(waits.isOnPod()).isFalse();
  }

  @Test
  void countsRequestsInFlightOnAPod() {
    exists(2);
    pods(A, B);
    requests(4).get(0).release();
    loop.run();

    assertThat(throttler.requestsInFlight(A) + throttler.requestsInFlight(B)).isEqualTo(3);
  }

  /** So the end of a pod does not wait for them, as in Kubernetes. */
  @Test
  void countsNoConnectionsOverTcpAsRequests() {
    existsOverTcp();
    pods(A);

    assertThat(request().destination()).isEqualTo(A);
    assertThat(throttler.requestsInFlight(A)).isZero();
  }

  @Test
  void aPodIsWithdrawn_whileItIsNotPublished() {
    exists(1);
    pods(A, B);
    var running = request();
    assertThat(running.isOnWithdrawnPod()).isFalse();

    pods(B);
    assertThat(running.isOnWithdrawnPod()).isTrue();

    pods(A, B);
    assertThat(running.isOnWithdrawnPod()).isFalse();
  }

  @Test
  void aPodIsNotWithdrawn_whileItIsEjectedOrReachedThroughTheService() {
    exists(2);
    pods(A);
    var running = requests(2);

    running.get(0).retry();
    loop.run();
    assertThat(running.get(1).isOnWithdrawnPod()).isFalse();

    clusterIp(A);
    assertThat(running.get(1).isOnWithdrawnPod()).isFalse();
  }

  @Test
  void theServiceIsWithdrawn_oncePodsAreAddressed() {
    exists(1);
    clusterIp(A);
    var running = request();
    assertThat(running.isOnWithdrawnPod()).isFalse();

    pods(A);
    assertThat(running.isOnWithdrawnPod()).isTrue();
  }

  @Test
  void requestsThroughTheServiceCountOncePodsAreAddressed() {
    exists(1);
    clusterIp(A);
    var running = request();

    // when the pod behind it answers itself
    pods(A);
    var held = request();
    assertThat(held.waits()).isTrue();
    assertThat(throttler.view(ID).inFlight()).isEqualTo(1);

    // then it gets the next once what came through the service is over
    running.release();
    loop.run();
    assertThat(held.answers()).containsExactly(A);
  }

  @Test
  void requestsThroughTheServiceTakeTheirShareOfManyPods() {
    exists(2);
    clusterIp(A, B, C);
    var running = requests(4);

    pods(A, B, C);

    // four of six are taken
    var held = requests(3);
    assertThat(held.stream().filter(HeldRequest::runs).count()).isEqualTo(2);
    running.getFirst().release();
    loop.run();
    assertThat(held.getLast().runs()).isTrue();
  }

  @Test
  void requestsOnPodsCountOnceTheServiceTakesOver() {
    exists(1);
    pods(A, B);
    var running = request();
    clusterIp(A, B);

    var held = requests(2);
    assertThat(destinations(held)).containsExactly(CLUSTER_IP, null);
    running.release();
    loop.run();
    assertThat(destinations(held)).containsExactly(CLUSTER_IP, CLUSTER_IP);
  }

  @Test
  @DisplayName("the service takes as many as its ready pods can")
  void theServiceTakesAsManyAsItsReadyPodsCan() {
    exists(1);
    clusterIp(A, B);

    assertThat(destinations(requests(3))).containsExactly(CLUSTER_IP, CLUSTER_IP, null);
  }

  @Test
  @DisplayName("the service takes none while no pod is ready")
  void theServiceTakesNoneWhileNoPodIsReady() {
    exists(1);
    clusterIp();

    assertThat(request().waits()).isTrue();
  }

  @Test
  @DisplayName("each of two pods takes one")
  void eachOfTwoPodsTakesOne() {
    exists(1);
    pods(C);
    pods(A, B);

    assertThat(destinations(requests(2))).containsExactly(A, B);
  }

  @Test
  @DisplayName("small pods fill up one after the other")
  void smallPodsFillUpOneAfterTheOther() {
    exists(3);
    pods(A, B, C);

    assertThat(destinations(requests(4))).containsExactly(A, A, A, B);
  }

  @Test
  @DisplayName("larger pods take turns")
  void largerPodsTakeTurns() {
    exists(5);
    pods(A, B, C);

    assertThat(destinations(requests(4))).containsExactly(A, B, C, A);
    assertThat(throttler.view(ID).capacity()).isEqualTo(15);
  }

  @Test
  @DisplayName("a shrinking capacity lets running requests finish")
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
  @DisplayName("a pod that comes back still carries what runs on it")
  void aPodThatComesBackStillCountsItsRunningRequests() {
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
  @DisplayName("a pod that left is forgotten once nothing runs on it")
  void aPodThatLeftIsForgottenOnceNothingRunsOnIt() {
    exists(1);
    pods(A);
    var running = request();
    pods();
    assertThat(throttler.view(ID).pods()).containsExactly(new PodLoad(A, 1));

    running.release();
    loop.run();

    assertThat(throttler.view(ID).pods()).isEmpty();
  }
}
