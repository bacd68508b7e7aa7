package dev.activator.backend;

import static dev.activator.backend.FakePods.HANGS;
import static dev.activator.backend.FakePods.OK;
import static dev.activator.backend.FakePods.REFUSED;
import static dev.activator.backend.Fixtures.A;
import static dev.activator.backend.Fixtures.B;
import static dev.activator.backend.Fixtures.C;
import static dev.activator.backend.Fixtures.CLUSTER_IP;
import static dev.activator.backend.Fixtures.TRAITS;
import static dev.activator.backend.Fixtures.notReady;
import static dev.activator.backend.Fixtures.pods;
import static dev.activator.backend.Fixtures.ready;
import static dev.activator.backend.Fixtures.viaClusterIp;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.backend.policy.WatcherEvent;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Listing;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RevisionWatcherTest {
  private static final ProbeOutcome MESH = ProbeOutcome.of(503, "");

  record Update(Duration at, HealthyDestinations destinations) {}

  private final VirtualLoop loop = new VirtualLoop();
  private final FakePods fake = new FakePods(loop);
  private final List<Update> updates = new ArrayList<>();
  private final RevisionWatcher watcher = new RevisionWatcher(TRAITS, loop, fake,
      Fixtures.shared(loop), this::publish);

  private void publish(HealthyDestinations destinations) {
    updates.add(new Update(loop.elapsed(), destinations));
  }

  private List<HealthyDestinations> published() {
    return updates.stream().map(Update::destinations).toList();
  }

  @Test
  void publishesAPodAsSoonAsItAnswers() {
    // given a pod that begins to listen 20 ms after it is listed
    fake.listensFrom(A, ofMillis(20));

    // when Kubernetes lists it
    watcher.listed(notReady(A));
    loop.advance(ofSeconds(10));

    // then it is asked at 0, at 1 + 10 and at 12 + 10 ms, and has answered at 23 ms
    assertThat(fake.asked(A)).containsExactly(ofMillis(0), ofMillis(11), ofMillis(22));
    assertThat(updates).containsExactly(new Update(ofMillis(23), pods(A)));
  }

  @Test
  void podsThatAnswerTogetherArePublishedTogether() {
    // given 2,000 pods, of which a hundred are asked at once
    var many = IntStream.range(0, 2_000)
        .mapToObj(i -> new Destination("10.0." + i / 250 + "." + i % 250, 8012)).toList();

    // when all are listed
    watcher.listed(new Listing(Destinations.of(many), Destinations.NONE));
    loop.advance(ofSeconds(1));

    // then the first is published alone, and then a hundred at a time
    assertThat(published().getFirst().pods().size()).isEqualTo(1);
    assertThat(updates.getFirst().at()).isEqualTo(ofMillis(1));
    assertThat(published().getLast().pods()).isEqualTo(Destinations.of(many));
    assertThat(updates).hasSize(21);
  }

  @Test
  void podsThatAnswerTogetherAreJudgedTogether() {
    // given 5,000 pods, of which a hundred are asked at once
    var many = IntStream.range(0, 5_000)
        .mapToObj(i -> new Destination("10.0." + i / 250 + "." + i % 250, 8012)).toList();
    var plain = Fixtures.shared(loop);
    var judged = new ArrayList<Integer>();
    var shared = new Shared(plain.turns(), plain.random(), (state, event, now) -> {
      if (event instanceof WatcherEvent.PodsAnswered(var answers)) {
        judged.add(answers.size());
      }
      return state.on(event, now);
    }, plain.policyFailures());
    var counted = new RevisionWatcher(TRAITS, loop, fake, shared, this::publish);

    counted.listed(new Listing(Destinations.of(many), Destinations.NONE));
    loop.advance(ofSeconds(1));

    // then of each hundred one counts at once, and the others together
    assertThat(published().getLast().pods()).isEqualTo(Destinations.of(many));
    assertThat(judged).hasSize(100).containsOnly(1, 99);
  }

  @Test
  void anAnswerIsNotOvertakenByTheNewsThatFollowsIt() {
    // given two pods that answer together, and the second is lost at that time
    watcher.listed(ready(A, B));
    loop.run();
    loop.schedule(ofMillis(1), () -> watcher.on(new WatcherEvent.Suspected(B)));
    loop.advance(ofMillis(1));

    // then its answer came before, and does not make up for that
    assertThat(published()).containsExactly(pods(A));
  }

  @Test
  void aPodThatEndsGetsNothingOnceAnotherAnswers() {
    // given a pod that serves, and one that starts
    fake.listensFrom(B, ofSeconds(2));
    watcher.listed(new Listing(Destinations.of(A), Destinations.of(B)));
    loop.advance(ofSeconds(1));

    // when the first ends, and the other answers, and is lost
    watcher.listed(new Listing(Destinations.of(A), Destinations.of(B), Destinations.of(A)));
    loop.advance(ofSeconds(3));
    watcher.listed(new Listing(Destinations.of(A), Destinations.NONE, Destinations.of(A)));
    loop.advance(ofSeconds(1));

    // then it serves while it is the only one
    assertThat(published()).containsExactly(pods(A), pods(B), pods(A));
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
    loop.schedule(ofMillis(1), () -> watcher.suspected(B));
    loop.advance(ofMillis(1));

    // then both are said at that time
    assertThat(updates).containsExactly(new Update(loop.elapsed(), pods(A, B, C)),
        new Update(loop.elapsed(), pods(A, C)));
  }

  @Test
  @DisplayName("RW-25 a pod that hangs holds up no other")
  void aPodThatHangsHoldsUpNoOther() {
    // given two pods, one of which does not answer
    fake.answers(A, HANGS);

    // when both are listed
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(1));

    // then the other serves after one round trip
    assertThat(updates).containsExactly(new Update(ofMillis(1), pods(B)));
  }

  @Test
  @DisplayName("RW-22 asks nobody once all answer")
  void asksNobodyOnceAllAnswer() {
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(60));

    assertThat(fake.asked()).hasSize(2);
  }

  @Test
  @DisplayName("MG-21 says nothing new of the same listing")
  void saysNothingNewOfTheSameListing() {
    watcher.listed(ready(A));
    loop.advance(ofSeconds(1));

    // when the same is listed again and again
    for (int i = 0; i < 5; i++) {
      watcher.listed(ready(A));
      loop.advance(ofSeconds(1));
    }

    assertThat(published()).containsExactly(pods(A));
    assertThat(fake.asked()).hasSize(1);
  }

  @Test
  void asksFasterAtFirstThanLater() {
    // given a pod that never listens
    fake.answers(A, REFUSED);

    // when it is listed for five minutes
    watcher.listed(ready(A));
    loop.advance(ofSeconds(300));

    // then 32 times as long as it waited for the next probe it had waited already: a pause of 10 ms
    // up to 320 ms, of 200 ms from 6.4 s on, and of a second from 150 s on
    var times = fake.asked(A);
    assertThat(pauseFrom(times, ofMillis(250))).isEqualTo(ofMillis(11));
    assertThat(pauseFrom(times, ofSeconds(3)).toMillis()).isBetween(93L, 97L);
    assertThat(pauseFrom(times, ofSeconds(10))).isEqualTo(ofMillis(200));
    assertThat(pauseFrom(times, ofSeconds(200))).isEqualTo(ofSeconds(1));
  }

  private static Duration pauseFrom(List<Duration> times, Duration from) {
    var later = times.stream().filter(at -> at.compareTo(from) >= 0).limit(2).toList();
    return later.get(1).minus(later.get(0));
  }

  @Test
  void asksWhenAStartIsExpected() {
    // given a revision whose pods took two seconds to start, ten times
    for (int i = 0; i < 10; i++) {
      startAfter(ofSeconds(2));
    }

    // when the next one takes 2.05 s
    var begin = loop.elapsed();
    startAfter(ofMillis(2_050));

    // then it was asked each 200 ms at first, and it serves one pause of 10 ms and one round trip
    // later at most
    var asked = fake.asked(A).stream().map(at -> at.minus(begin)).filter(at -> !at.isNegative())
        .toList();
    assertThat(asked).filteredOn(at -> at.compareTo(ofMillis(1_600)) < 0).hasSize(8);
    assertThat(updates.get(updates.size() - 2).at().minus(begin)).isBetween(ofMillis(2_050),
        ofMillis(2_062));
  }

  private void startAfter(Duration start) {
    fake.listensFrom(A, loop.elapsed().plus(start));
    watcher.listed(notReady(A));
    loop.advance(ofSeconds(10));
    watcher.listed(Listing.NONE);
    loop.advance(ofSeconds(10));
  }

  @Test
  void learnsNothingFromPodsThatMayHaveStartedLongAgo() {
    for (int i = 0; i < 10; i++) {
      // given pods that answer at once
      watcher.listed(notReady(A));
      loop.advance(ofSeconds(1));
      watcher.listed(Listing.NONE);

      // and pods that were ready before they answered, from the begin or not
      fake.listensFrom(B, loop.elapsed().plusMillis(700));
      watcher.listed(ready(B));
      loop.advance(ofSeconds(1));
      watcher.listed(Listing.NONE);
      fake.listensFrom(C, loop.elapsed().plusMillis(1_200));
      watcher.listed(notReady(C));
      loop.advance(ofMillis(500));
      watcher.listed(ready(C));
      loop.advance(ofSeconds(1));
      watcher.listed(Listing.NONE);
    }

    // then it is asked as before: 32 times as long as the pause
    fake.answers(A, REFUSED);
    var begin = loop.elapsed();
    watcher.listed(notReady(A));
    loop.advance(ofSeconds(1));
    var times = fake.asked(A).stream().filter(at -> at.compareTo(begin) >= 0)
        .map(at -> at.minus(begin)).toList();
    assertThat(pauseFrom(times, ofMillis(690))).isGreaterThan(ofMillis(21));
  }

  @Test
  void aPodThatHangsIsAskedAgainSoonAfter() {
    // given a queue-proxy that holds the probe until its container listens
    fake.answers(A, HANGS);

    watcher.listed(notReady(A));
    loop.advance(ofSeconds(3));

    // then a probe is under way nearly all the time: the pause runs from the begin of the last
    assertThat(fake.asked(A)).hasSize(10).startsWith(ofMillis(0), ofMillis(310), ofMillis(620));
  }

  @Test
  void oneThatAnswersProbesButNotRequestsDoesNotComeBackAtOnceEachTime() {
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(1));

    // when each request to it fails
    for (int i = 0; i < 1_000; i++) {
      watcher.suspected(A);
      loop.advance(ofMillis(1));
    }

    // then it came back at once, and after that each 200 ms
    assertThat(fake.asked(A)).hasSize(1 + 1 + 4);
  }

  @Test
  void asksAtOnceWhenAPodIsCalledReady() {
    // given a pod that has failed for five minutes, and so is asked each second
    fake.answers(A, REFUSED);
    watcher.listed(notReady(A));
    loop.advance(ofSeconds(300));

    watcher.listed(ready(A));
    loop.run();

    assertThat(fake.asked(A)).endsWith(ofSeconds(300));
  }

  @Test
  void aClusterIpThatComesBackIsNotAskedTwiceAtOnce() {
    // given a ClusterIP that hangs, and goes and comes back meanwhile (FakePods checks the rest)
    fake.answers(A, MESH);
    fake.answers(CLUSTER_IP, List.of(HANGS, OK));
    watcher.addressed(CLUSTER_IP);
    watcher.listed(ready(A));
    loop.advance(ofMillis(100));
    watcher.addressed(null);
    watcher.addressed(CLUSTER_IP);
    loop.advance(ofSeconds(5));

    // then its second probe begins when the first has ended, which began at 1 ms
    assertThat(fake.asked(CLUSTER_IP)).containsExactly(ofMillis(1), ofMillis(301));
    assertThat(published()).containsExactly(viaClusterIp(A));
  }

  @Test
  void aSuspectThatIsNotListedChangesNothing() {
    watcher.listed(ready(A));
    loop.advance(ofSeconds(1));

    watcher.suspected(B);
    loop.advance(ofSeconds(1));

    assertThat(published()).containsExactly(pods(A));
    assertThat(fake.asked()).hasSize(1);
  }

  @Test
  void doesNotBelieveAnAnswerFromBeforeThePodFellFromReady() {
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
  void aPodThatFellFromReadyServesUntilItFailsAProbe() {
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
  void aPodThatComesBackIsNotAskedTwiceAtOnce() {
    // given a pod that hangs, and leaves and comes back meanwhile (FakePods checks the rest)
    fake.answers(A, List.of(HANGS, OK));
    watcher.listed(ready(A));
    loop.advance(ofMillis(100));
    watcher.listed(Listing.NONE);
    loop.advance(ofMillis(100));
    watcher.listed(ready(A));
    loop.advance(ofSeconds(5));

    // then its second probe begins when the first has ended
    assertThat(fake.asked(A)).containsExactly(ofMillis(0), ofMillis(300));
    assertThat(published()).containsExactly(pods(A));
  }

  @Test
  void leavesTheClusterIpOncePodsAnswer() {
    // given a revision behind its ClusterIP
    fake.answers(A, MESH);
    fake.answers(B, MESH);
    watcher.addressed(CLUSTER_IP);
    watcher.listed(ready(A));
    loop.advance(ofSeconds(10));
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(100));
    assertThat(published()).containsExactly(viaClusterIp(A), viaClusterIp(A, B));

    // when the mesh is gone
    fake.answers(A, OK);
    fake.answers(B, OK);
    loop.advance(ofSeconds(40));

    // then the first pod's answer ends it, and the other pod is asked at once
    assertThat(published()).hasSize(4).endsWith(pods(A, B));
    assertThat(updates.get(3).at().minus(updates.get(2).at())).isEqualTo(ofMillis(1));
  }

  @Test
  void aSuspectServesOnlyAfterItAnswersAgain() {
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(1));
    fake.answers(A, List.of(REFUSED, OK));

    // when a request could not be delivered
    watcher.suspected(A);
    loop.advance(ofSeconds(1));

    // then it is set aside at once, and asked at once
    assertThat(published()).endsWith(pods(A, B), pods(B), pods(A, B));
    assertThat(updates.get(2).at()).isEqualTo(ofSeconds(1));
    assertThat(fake.asked(A)).contains(ofSeconds(1));
  }

  @Test
  void aClusterIpUnderSuspicionIsAskedAgain() {
    fake.answers(A, MESH);
    watcher.addressed(CLUSTER_IP);
    watcher.listed(ready(A));
    loop.advance(ofSeconds(1));

    watcher.suspected(CLUSTER_IP);
    loop.advance(ofSeconds(1));

    assertThat(published()).containsExactly(viaClusterIp(A), pods(), viaClusterIp(A));
  }

  @Test
  void takesBackWhatItPublishedWhenTheRevisionIsDeleted() {
    watcher.listed(ready(A));
    loop.advance(ofSeconds(1));
    fake.answers(B, HANGS);
    watcher.listed(ready(A, B, C));
    loop.advance(ofMillis(100));

    // when the revision is deleted while B is asked
    watcher.deleted();
    loop.advance(ofSeconds(10));

    // then that is the last word
    assertThat(published()).endsWith(pods(A, C), pods());
    assertThat(watcher.view()).isNull();
    assertThat(fake.asked(B)).hasSize(1);
  }

  @Test
  @DisplayName("RW-20 CD-07 says nothing once cancelled")
  void saysNothingOnceCancelled() {
    watcher.listed(ready(A));
    watcher.cancelled();
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(10));

    assertThat(updates).isEmpty();
  }

  @Test
  void showsWhyAPodDoesNotServe() {
    fake.answers(A, ProbeOutcome.of(200, "hello"));
    watcher.listed(notReady(A));
    loop.advance(ofMillis(5));

    var pod = Objects.requireNonNull(watcher.view()).pods().getFirst();

    assertThat(pod.destination()).isEqualTo(A);
    assertThat(pod.ready() || pod.answers() || pod.serves()).isFalse();
    assertThat(pod.failures()).isEqualTo(1);
    assertThat(pod.probe().outcome()).isEqualTo("answered 200, but is no queue-proxy");
    assertThat(pod.probe().ago()).isEqualTo(ofMillis(4));
    assertThat(pod.probe().took()).isEqualTo(ofMillis(1));
  }

  @Test
  void survivesAPolicyThatThrows() {
    // given a policy that fails at the first answer of B
    var failed = new boolean[1];
    var plain = Fixtures.shared(loop);
    var shared = new Shared(plain.turns(), plain.random(), (state, event, now) -> {
      if (event instanceof WatcherEvent.PodsAnswered(var answers)
          && answers.stream().anyMatch(answer -> answer.pod().equals(B)) && !failed[0]) {
        failed[0] = true;
        throw new IllegalStateException("a bug");
      }
      return state.on(event, now);
    }, plain.policyFailures());
    var fragile = new RevisionWatcher(TRAITS, loop, fake, shared, this::publish);

    // when A serves and B is listed
    fragile.listed(ready(A));
    loop.advance(ofSeconds(1));
    fragile.listed(ready(A, B));
    loop.advance(ofSeconds(1));

    // then A has served on, and B serves after it was asked again
    assertThat(published()).containsExactly(pods(A), pods(A, B));
    assertThat(fake.asked(B)).hasSize(2);
    assertThat(shared.policyFailures().sum()).isEqualTo(1);
  }

  @Test
  void aListenerThatThrowsDoesNotKeepPodsFromBeingAsked() {
    var fragile = new RevisionWatcher(TRAITS, loop, fake, Fixtures.shared(loop), destinations -> {
      publish(destinations);
      throw new IllegalStateException("a bug");
    });

    fragile.listed(ready(A));
    loop.advance(ofSeconds(1));
    fragile.listed(ready(B));
    loop.advance(ofSeconds(1));

    assertThat(published()).containsExactly(pods(A), pods(), pods(B));
  }
}
