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

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.testing.LogLines;
import dev.activator.upstream.ProbeClient.ProbeResult;
import java.util.ArrayList;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/** What is published of a revision, and shown to who asks why. */
@Isolated // It reads what classes write in the log.
class RevisionWatcherTest extends WatcherScene {
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

    // when a request waits, and all are listed
    watcher.onRequestWaits(loop);
    watcher.listed(new PodsByReadiness(DestinationSet.of(many), DestinationSet.NONE));
    loop.advance(ofSeconds(1));

    // then the first is published alone, and then a hundred at a time
    assertThat(published().getFirst().pods().size()).isEqualTo(1);
    assertThat(updates.getFirst().at()).isEqualTo(ofMillis(1));
    assertThat(published().getLast().pods()).isEqualTo(DestinationSet.of(many));
    assertThat(updates).hasSize(21);
  }

  @Test
  void podsThatAnswerTogetherAreJudgedTogether() {
    // given 5,000 pods, of which a hundred are asked at once
    var many = IntStream.range(0, 5_000)
        .mapToObj(i -> new Destination("10.0." + i / 250 + "." + i % 250, 8012)).toList();

    // when a request waits, and all are listed
    var judged = new ArrayList<Integer>();
    var logger = (Logger) LoggerFactory.getLogger(RevisionWatcher.class);
    logger.setLevel(Level.TRACE);
    watcher.onRequestWaits(loop);
    try (var events = LogLines.of(RevisionWatcher.class)) {
      watcher.listed(new PodsByReadiness(DestinationSet.of(many), DestinationSet.NONE));
      loop.advance(ofSeconds(1));
      events.at(Level.TRACE).stream().filter(event -> event.contains(": Probed["))
          .forEach(event -> judged.add(event.split("EndedProbe\\[").length - 1));
    } finally {
      logger.setLevel(null);
    }

    // then of each hundred one counts at once, and the others together
    assertThat(published().getLast().pods()).isEqualTo(DestinationSet.of(many));
    assertThat(judged).hasSize(100).containsOnly(1, 99);
  }

  @Test
  void anAnswerIsJudgedBeforeAnEventThatCameLater() {
    // given two pods that answer together, and the second is lost at that time
    watcher.listed(ready(A, B));
    loop.run();
    loop.schedule(ofMillis(1), () -> watcher.onUnreachable(B));
    loop.advance(ofMillis(1));

    // then its answer came before, and does not make up for that
    assertThat(published()).containsExactly(pods(A));
  }

  @Test
  @DisplayName("says nothing new of the same listing")
  void publishesNothingForTheSameListing() {
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
  void aProbeFromBeforeThePodWasReadyIsNoSignOfAMesh() {
    // given a pod that is not ready and lets a probe hang
    watcher.addressed(CLUSTER_IP);
    fake.answers(A, HANGS);
    watcher.listed(notReady(A));
    loop.advance(ofMillis(100));

    // when it is ready and answers from now on
    fake.answers(A, OK);
    watcher.listed(ready(A));
    loop.advance(ofSeconds(5));

    // then it is asked again, and nobody asks the ClusterIP
    assertThat(published()).containsExactly(pods(A));
    assertThat(fake.asked(CLUSTER_IP)).isEmpty();
  }

  @Test
  void takesBackWhatItPublishedWhenTheRevisionIsDeleted() {
    watcher.listed(ready(A));
    loop.advance(ofSeconds(1));
    fake.answers(B, HANGS);
    watcher.listed(ready(A, B, C));
    loop.advance(ofMillis(100));

    // when the revision is deleted while B is asked
    watcher.ended();
    loop.advance(ofSeconds(10));

    // then that is the last word
    assertThat(published()).endsWith(pods(A, C), pods());
    assertThat(watcher.view()).isNull();
    assertThat(fake.asked(B)).hasSize(1);
  }

  @Test
  @DisplayName("says nothing once cancelled")
  void publishesNothingOnceCancelled() {
    watcher.listed(ready(A));
    watcher.cancelled();
    watcher.listed(ready(A, B));
    loop.advance(ofSeconds(10));

    assertThat(updates).isEmpty();
  }

  @Test
  void showsWhyAPodDoesNotServe() {
    fake.answers(A, new ProbeResult.Answered(200, "hello"));
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
  void aBugIsLoggedWithTheRevisionAndTakesBackWhatWasPublished() {
    // given a bug in what follows from a failed probe
    var fragile = Fixtures.watcher(TRAITS, loop, fake, () -> {
      throw new IllegalStateException("a bug");
    }, 500, this::publish);
    fragile.listed(ready(A));
    loop.advance(ofSeconds(1));

    // when a probe fails
    fake.answers(B, REFUSED);
    try (var lines = LogLines.of(RevisionWatcher.class)) {
      fragile.listed(ready(A, B));
      loop.advance(ofSeconds(60));

      // then that is the end
      assertThat(lines.at(Level.ERROR)).singleElement().asString()
          .startsWith("test-namespace/test-revision: a bug ended the watcher at");
    }
    assertThat(published()).containsExactly(pods(A), pods());
    assertThat(fragile.hasEnded()).isTrue();
    assertThat(fragile.view()).isNull();
    assertThat(fake.asked(B)).hasSize(1);
  }

  @Test
  void aProbeThatCannotBeSentIsABug() {
    var fragile = Fixtures.watcher(TRAITS, loop, (on, request, done) -> {
      throw new IllegalStateException("a bug");
    }, this::publish);

    fragile.listed(ready(A));
    loop.advance(ofSeconds(1));

    assertThat(fragile.hasEnded()).isTrue();
    assertThat(updates).isEmpty();
  }
}
