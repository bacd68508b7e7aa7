package dev.activator.backend.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbeVerdict.Kind;
import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.backend.policy.RevisionWatcherState.EndedProbe;
import dev.activator.backend.policy.RevisionWatcherState.Probed;
import dev.activator.backend.policy.RevisionWatcherState.RequestWaits;
import dev.activator.backend.policy.RevisionWatcherState.Listed;
import dev.activator.backend.policy.RevisionWatcherState.ProbeLater;
import dev.activator.backend.policy.RevisionWatcherState.ProbeNow;
import dev.activator.backend.policy.RevisionWatcherState.Publish;
import dev.activator.config.NetworkConfig.MeshMode;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RevisionProbingStateTest {
  private static final RevisionId ID = new RevisionId("ns", "rev");
  private static final Destination A = new Destination("10.0.0.1", 8012);
  private static final Destination B = new Destination("10.0.0.2", 8012);
  private static final ProbeVerdict OK = ProbeVerdict.of(200, "queue");
  private static final ProbeVerdict REFUSED = new ProbeVerdict(Kind.REFUSED,
      "connection refused");
  private static final Duration TOOK = Duration.ofMillis(1);

  private static RevisionWatcherState watching() {
    return RevisionWatcherState
        .of(new ProbePolicy(ID, new MeshAddressing(MeshMode.AUTO, false), true, false,
            new ProbeBackoff(Duration.ofMillis(200))));
  }

  private static DestinationSet some(Random random) {
    var pods = new ArrayList<Destination>();
    for (int i = 1; i < 9; i++) {
      if (random.nextInt(3) > 0) {
        pods.add(new Destination("10.0.0." + i, 8012));
      }
    }
    return DestinationSet.of(pods);
  }

  @Test
  void publishesOnceAndPausesFailedPods_whenAnswersArriveTogether() {
    var asked = watching()
        .on(new Listed(new PodsByReadiness(DestinationSet.of(A, B), DestinationSet.NONE)),
            Duration.ZERO);

    var step = asked.next().on(
        new Probed(List.of(new EndedProbe(A, OK, TOOK), new EndedProbe(B, REFUSED, TOOK))),
        TOOK);

    assertThat(step.effects()).containsExactly(
        new Publish(HealthyDestinations.pods(ID, DestinationSet.of(A))),
        new ProbeLater(B, Duration.ofMillis(10)));
  }

  @Test
  void reachesTheSameState_whenAnswersArriveTogetherOrOneByOne() {
    Seeds.each(seed -> new RevisionProbingStateTest()
        .reachesTheSameState_whenAnswersArriveTogetherOrOneByOne(seed));
  }

  private void reachesTheSameState_whenAnswersArriveTogetherOrOneByOne(long seed) {
    var random = new Random(seed);
    // Their probes are urgent whatever is published meanwhile.
    var together = watching().on(new RequestWaits(), Duration.ZERO).next();
    var oneByOne = together;
    var now = Duration.ZERO;
    for (int i = 0; i < 50; i++) {
      now = now.plusMillis(random.nextInt(300));
      // given pods that come and go, and are asked
      var news = new Listed(new PodsByReadiness(some(random), some(random).minus(some(random))));
      together = together.on(news, now).next();
      oneByOne = oneByOne.on(news, now).next();

      // when some answer, even some that nobody asked
      now = now.plusMillis(1);
      var answers = some(random).all().stream()
          .map(pod -> new EndedProbe(pod, random.nextBoolean() ? OK : REFUSED, TOOK)).toList();
      if (answers.isEmpty()) {
        continue;
      }
      var step = together.on(new Probed(answers), now);
      together = step.next();
      var probes = new ArrayList<RevisionWatcherState.Effect>();
      for (var answer : answers) {
        var single = oneByOne.on(
            new Probed(List.of(answer)), now);
        oneByOne = single.next();
        single.effects().stream().filter(effect -> !(effect instanceof Publish))
            .forEach(probes::add);
      }

      // then the same is known, and the same is asked, now or later
      assertThat(together).isEqualTo(oneByOne);
      assertThat(step.effects()).filteredOn(effect -> !(effect instanceof Publish))
          .containsExactlyInAnyOrderElementsOf(probes);
      assertThat(step.effects()).filteredOn(Publish.class::isInstance).hasSizeLessThan(2);
      assertThat(step.effects()).filteredOn(ProbeNow.class::isInstance).doesNotHaveDuplicates();
    }
  }
}
