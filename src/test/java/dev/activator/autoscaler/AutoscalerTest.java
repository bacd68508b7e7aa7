package dev.activator.autoscaler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.autoscaler.policy.Sample;
import dev.activator.autoscaler.policy.ScalingLimits;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AutoscalerTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");

  private final VirtualLoop loop = new VirtualLoop();
  private final Map<RevisionId, ScalingLimits> revisions = new HashMap<>();
  private final Map<RevisionId, Integer> pods = new HashMap<>();
  private final Autoscaler autoscaler = new Autoscaler(loop, () -> revisions, pods::put);

  @BeforeEach
  void start() {
    autoscaler.start();
    loop.run();
  }

  @Test
  void scalesFromZeroAtTheFirstRequestWithoutWaitingForTheNextSecond() {
    revisions.put(HELLO, new ScalingLimits(1, 0, 10));
    loop.advance(Duration.ofMillis(300));

    autoscaler.received(HELLO, new Sample("a", 1, 1));
    loop.run();

    assertThat(pods).containsExactly(Map.entry(HELLO, 1));
  }

  @Test
  void ignoresARevisionNobodyKnows() {
    autoscaler.received(HELLO, new Sample("a", 1, 1));
    loop.advance(Duration.ofSeconds(2));

    assertThat(pods).isEmpty();
  }

  @Test
  void aRevisionWithALeastHasThemWithoutTraffic() {
    revisions.put(HELLO, new ScalingLimits(1, 2, 10));
    loop.advance(Duration.ofSeconds(1));

    assertThat(pods).containsExactly(Map.entry(HELLO, 2));
  }

  @Test
  void scalesARevisionThatWasDeletedAndMadeAgain() {
    // given a revision with a pod
    revisions.put(HELLO, new ScalingLimits(1, 0, 10));
    autoscaler.received(HELLO, new Sample("a", 1, 1));
    loop.advance(Duration.ofSeconds(2));

    // when it is made again within a second, and so has none
    pods.clear();
    loop.advance(Duration.ofSeconds(1));

    assertThat(pods).containsExactly(Map.entry(HELLO, 1));
  }

  @Test
  void decidesNothingOnceStopped() {
    revisions.put(HELLO, new ScalingLimits(1, 2, 10));
    autoscaler.stop();
    autoscaler.received(HELLO, new Sample("a", 1, 1));
    loop.advance(Duration.ofSeconds(10));

    assertThat(pods).isEmpty();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("dev.activator.testing.Seeds#first300")
  void isZeroWithinNineSecondsOfTheLastReportAndNeverBeforeSix(long seed) {
    var random = new Random(seed);
    var limits = new ScalingLimits(1 + random.nextInt(5), 0, 1 + random.nextInt(10));
    revisions.put(HELLO, limits);
    for (int burst = 0; burst < 20; burst++) {
      // given a load of some seconds, reported at any moment within them
      int concurrency = 1 + random.nextInt(30);
      int seconds = 1 + random.nextInt(8);
      for (int i = 0; i < seconds; i++) {
        autoscaler.received(HELLO, new Sample("a", concurrency, concurrency));
        loop.advance(Duration.ofMillis(950 + random.nextInt(100)));
        // then there are pods, and at least as many as this load needs
        int needed = Math.min(limits.most(), (concurrency + limits.target() - 1) / limits.target());
        assertThat(pods.get(HELLO)).isBetween(needed, limits.most());
      }

      // when it ends, then pods stay for a while and go in time
      var quiet = Duration.ofMillis(random.nextInt(9_000));
      for (long ms = 0; ms < quiet.toMillis(); ms += 100) {
        autoscaler.received(HELLO, new Sample("a", 0, 0));
        loop.advance(Duration.ofMillis(100));
        if (ms < 4_800) {
          assertThat(pods.get(HELLO)).isPositive();
        }
      }
    }
    loop.advance(Duration.ofSeconds(9));
    assertThat(pods.get(HELLO)).isZero();
  }
}
