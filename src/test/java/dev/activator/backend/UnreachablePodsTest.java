package dev.activator.backend;

import static dev.activator.backend.FakePods.HANGS;
import static dev.activator.backend.FakePods.OK;
import static dev.activator.backend.FakePods.REFUSED;
import static dev.activator.backend.Fixtures.A;
import static dev.activator.backend.Fixtures.B;
import static dev.activator.backend.Fixtures.C;
import static dev.activator.backend.Fixtures.CLUSTER_IP;
import static dev.activator.backend.Fixtures.notReady;
import static dev.activator.backend.Fixtures.pods;
import static dev.activator.backend.Fixtures.ready;
import static dev.activator.backend.Fixtures.viaClusterIp;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PodsByReadiness.Identity;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Pods that end, are lost, fall from ready or refuse requests. */
class UnreachablePodsTest extends WatcherScene {
  @Test
  void aPodThatEndsGetsNothingOnceAnotherAnswers() {
    // given a pod that serves, and one that starts
    fake.listensFrom(B, ofSeconds(2));
    watcher.listed(new PodsByReadiness(DestinationSet.of(A), DestinationSet.of(B)));
    loop.advance(ofSeconds(1));

    // when the first ends, and the other answers, and is lost
    watcher
        .listed(
            new PodsByReadiness(DestinationSet.of(A), DestinationSet.of(B), DestinationSet.of(A)));
    loop.advance(ofSeconds(3));
    watcher.listed(
        new PodsByReadiness(DestinationSet.of(A), DestinationSet.NONE, DestinationSet.of(A)));
    loop.advance(ofSeconds(1));

    // then it serves while it is the only one
    assertThat(published()).containsExactly(pods(A), pods(B), pods(A));
  }

  @Test
  void anotherPodOnTheSameAddressIsProbedBeforeItServes() {
    // given a pod that serves
    fake.answers(A, List.of(OK, REFUSED, OK));
    watcher.listed(listing("one"));
    loop.advance(ofSeconds(1));

    // when it is gone and another has its address, in one and the same event
    watcher.listed(listing("another"));
    loop.advance(ofSeconds(1));
    watcher.listed(listing("another"));
    loop.advance(ofSeconds(1));

    // then that one serves once it has answered itself
    assertThat(published()).containsExactly(pods(A), pods(), pods(A));
    assertThat(fake.asked(A)).hasSize(3);
  }

  @Test
  void anAnswerOfThePodThatHadTheAddressBeforeDoesNotCount() {
    // given a probe that is on its way
    fake.answers(A, List.of(OK, REFUSED));
    watcher.listed(listing("one"));
    loop.run();

    watcher.listed(listing("another"));
    loop.advance(ofSeconds(5));

    assertThat(updates).isEmpty();
  }

  private static PodsByReadiness listing(String uid) {
    return new PodsByReadiness(DestinationSet.of(A), DestinationSet.NONE, DestinationSet.NONE,
        Map.of(A, new Identity(uid, "")));
  }

  @Test
  void aPodThatIsLostIsNotWaitedFor() {
    // given two pods that serve, and one that is about to
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(1));
    updates.clear();
    watcher.listed(ready(A, B, C));
    loop.run();

    // when it answers, and a request to another fails at the same time
    loop.schedule(ofMillis(1), () -> loop.execute(() -> watcher.onUnreachable(B)));
    loop.advance(ofMillis(1));

    // then both are said at that time
    assertThat(updates).containsExactly(new Update(loop.elapsed(), pods(A, B, C)),
        new Update(loop.elapsed(), pods(A, C)));
  }

  @Test
  void oneThatAnswersProbesButNotRequestsDoesNotComeBackAtOnceEachTime() {
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(1));

    // when each request to it fails
    for (int i = 0; i < 1_000; i++) {
      watcher.onUnreachable(A);
      loop.advance(ofMillis(1));
    }

    // then it came back at once, and after that each 200 ms
    assertThat(fake.asked(A)).hasSize(1 + 1 + 4);
  }

  @Test
  void anUnreachableAddressThatIsNotListedChangesNothing() {
    watcher.listed(ready(A));
    loop.advance(ofSeconds(1));

    watcher.onUnreachable(B);
    loop.advance(ofSeconds(1));

    assertThat(published()).containsExactly(pods(A));
    assertThat(fake.asked()).hasSize(1);
  }

  @Test
  void anAnswerFromBeforeThePodBecameUnreadyDoesNotServe() {
    // given a ready pod whose answer is on its way, and which then stops to listen
    fake.answers(A, List.of(OK, REFUSED));
    watcher.listed(ready(A));
    loop.run();

    // when Kubernetes finds it not ready before the answer is there
    watcher.listed(notReady(A));
    loop.advance(ofSeconds(5));

    // then it is asked again, and never serves
    assertThat(updates).isEmpty();
  }

  @Test
  void aPodThatBecameUnreadyServesUntilItFailsAProbe() {
    fake.answers(A, List.of(OK, REFUSED, REFUSED, OK));
    watcher.listed(ready(A));
    loop.advance(ofSeconds(1));

    // when Kubernetes does not call it ready any more
    watcher.listed(notReady(A));
    loop.advance(ofSeconds(1));

    // then it is gone after one round trip, and back after two pauses of 10 ms
    assertThat(updates).containsExactly(new Update(ofMillis(1), pods(A)),
        new Update(ofMillis(1001), pods()), new Update(ofMillis(1023), pods(A)));
  }

  @Test
  void anUnreachablePodServesOnlyAfterItAnswersAgain() {
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(1));
    fake.answers(A, List.of(REFUSED, OK));

    // when a request could not be delivered
    watcher.onUnreachable(A);
    loop.advance(ofSeconds(1));

    // then it is ejected at once, and probed at once
    assertThat(published()).endsWith(pods(A, B), pods(B), pods(A, B));
    assertThat(updates.get(2).at()).isEqualTo(ofSeconds(1));
    assertThat(fake.asked(A)).contains(ofSeconds(1));
  }

  @Test
  void anUnreachableClusterIpIsProbedOnceThePodsHaveBeenProbedAgain() {
    // given a pod behind a ClusterIP
    fake.answers(A, MESH);
    watcher.addressed(CLUSTER_IP);
    watcher.listed(ready(A));
    loop.advance(ofSeconds(1));
    updates.clear();

    // when a request cannot be delivered to the ClusterIP, and the pod takes long to answer
    fake.answers(A, List.of(HANGS, OK));
    watcher.onUnreachable(CLUSTER_IP);
    loop.advance(ofMillis(299));
    assertThat(fake.asked(CLUSTER_IP)).hasSize(1);

    // then the ClusterIP is asked when the pod has not answered
    loop.advance(ofMillis(1));
    assertThat(fake.asked(A)).contains(ofSeconds(1));
    assertThat(fake.asked(CLUSTER_IP)).hasSize(2).contains(ofMillis(1300));
    loop.advance(ofSeconds(1));
    assertThat(published()).startsWith(pods(), viaClusterIp(A)).endsWith(pods(A));
  }

  @Test
  void anUnreachableClusterIpIsNotProbedWhereAPodAnswersNow() {
    fake.answers(A, List.of(MESH, OK));
    watcher.addressed(CLUSTER_IP);
    watcher.listed(ready(A));
    loop.advance(ofMillis(2));

    watcher.onUnreachable(CLUSTER_IP);
    loop.advance(ofSeconds(1));

    assertThat(published()).containsExactly(viaClusterIp(A), pods(), pods(A));
    assertThat(fake.asked(CLUSTER_IP)).hasSize(1);
  }

  @Test
  void anUnreachableClusterIpIsProbedAgain() {
    fake.answers(A, MESH);
    watcher.addressed(CLUSTER_IP);
    watcher.listed(ready(A));
    loop.advance(ofSeconds(1));

    watcher.onUnreachable(CLUSTER_IP);
    loop.advance(ofSeconds(1));

    assertThat(published()).containsExactly(viaClusterIp(A), pods(), viaClusterIp(A));
  }
}
