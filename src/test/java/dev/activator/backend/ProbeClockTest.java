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

import dev.activator.revision.PodsByReadiness;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** When a pod is asked, and when again. */
class ProbeClockTest extends WatcherScene {
  @Test
  @DisplayName("a pod that hangs holds up no other")
  void aPodThatHangsDelaysNoOther() {
    // given two pods, one of which does not answer
    fake.answers(A, HANGS);

    // when both are listed
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(1));

    // then the other serves after one round trip
    assertThat(updates).containsExactly(new Update(ofMillis(1), pods(B)));
  }

  @Test
  @DisplayName("sends no probe once all answer")
  void sendsNoProbesOnceAllPodsAnswer() {
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(60));

    assertThat(fake.asked()).hasSize(2);
  }

  @Test
  void probesMoreOftenAtFirstThanLater() {
    // given a pod that never listens, and requests that wait
    fake.answers(A, REFUSED);

    // when it is listed for five minutes
    watcher.listed(ready(A));
    for (int i = 0; i < 300; i++) {
      watcher.onRequestWaits(loop);
      loop.advance(ofSeconds(1));
    }

    // then 128 times as long as it waited for the next probe it had waited already: a pause of 1 ms
    // up to 128 ms, of 200 ms from 25.6 s on, and of a second from 150 s on
    var times = fake.asked(A);
    assertThat(pauseFrom(times, ofMillis(500)).toMillis()).isBetween(4L, 5L);
    assertThat(pauseFrom(times, ofSeconds(3)).toMillis()).isBetween(23L, 25L);
    assertThat(pauseFrom(times, ofSeconds(28))).isEqualTo(ofMillis(200));
    assertThat(pauseFrom(times, ofSeconds(200))).isEqualTo(ofSeconds(1));
  }

  @Test
  void probesLessOften_whenNoRequestWaits() {
    // given a pod that never listens
    fake.answers(A, REFUSED);

    watcher.listed(ready(A));
    loop.advance(ofSeconds(30));

    // then 32 times as long as it waited for the next probe it had waited already
    var times = fake.asked(A);
    assertThat(pauseFrom(times, ofMillis(250))).isEqualTo(ofMillis(11));
    assertThat(pauseFrom(times, ofSeconds(3)).toMillis()).isBetween(93L, 97L);
    assertThat(pauseFrom(times, ofSeconds(10))).isEqualTo(ofMillis(200));
  }

  private static Duration pauseFrom(List<Duration> times, Duration from) {
    var later = times.stream().filter(at -> at.compareTo(from) >= 0).limit(2).toList();
    return later.get(1).minus(later.get(0));
  }

  @Test
  void probesOftenWhenAStartIsExpected() {
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
    watcher.listed(PodsByReadiness.NONE);
    loop.advance(ofSeconds(10));
  }

  @Test
  void learnsNothingFromPodsThatMayHaveStartedLongAgo() {
    for (int i = 0; i < 10; i++) {
      // given pods that answer at once
      watcher.listed(notReady(A));
      loop.advance(ofSeconds(1));
      watcher.listed(PodsByReadiness.NONE);

      // and pods that were ready before they answered, from the begin or not
      fake.listensFrom(B, loop.elapsed().plusMillis(700));
      watcher.listed(ready(B));
      loop.advance(ofSeconds(1));
      watcher.listed(PodsByReadiness.NONE);
      fake.listensFrom(C, loop.elapsed().plusMillis(1_200));
      watcher.listed(notReady(C));
      loop.advance(ofMillis(500));
      watcher.listed(ready(C));
      loop.advance(ofSeconds(1));
      watcher.listed(PodsByReadiness.NONE);
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
  void aPodThatHangsIsProbedAgainSoonAfter() {
    // given a queue-proxy that holds the probe until its container listens
    fake.answers(A, HANGS);

    watcher.listed(notReady(A));
    loop.advance(ofSeconds(3));

    // then a probe is under way nearly all the time: the pause runs from the begin of the last
    assertThat(fake.asked(A)).hasSize(10).startsWith(ofMillis(0), ofMillis(310), ofMillis(620));
  }

  @Test
  void probesAtOnceWhenAPodBecomesReady() {
    // given a pod that has failed for five minutes, and so is asked twice a minute
    fake.answers(A, REFUSED);
    watcher.listed(notReady(A));
    loop.advance(ofSeconds(300));

    watcher.listed(ready(A));
    loop.run();

    assertThat(fake.asked(A)).endsWith(ofSeconds(300));
  }

  @Test
  void aClusterIpThatComesBackHasOneProbeAtATime() {
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
  void aPodThatComesBackHasOneProbeAtATime() {
    // given a pod that hangs, and leaves and comes back meanwhile (FakePods checks the rest)
    fake.answers(A, List.of(HANGS, OK));
    watcher.listed(ready(A));
    loop.advance(ofMillis(100));
    watcher.listed(PodsByReadiness.NONE);
    loop.advance(ofMillis(100));
    watcher.listed(ready(A));
    loop.advance(ofSeconds(5));

    // then its second probe begins when the first has ended
    assertThat(fake.asked(A)).containsExactly(ofMillis(0), ofMillis(300));
    assertThat(published()).containsExactly(pods(A));
  }
}
