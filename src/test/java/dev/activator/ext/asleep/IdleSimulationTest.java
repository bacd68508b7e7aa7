package dev.activator.ext.asleep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.Seeds;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Random requests, while leaders die. */
class IdleSimulationTest {
  @Test
  void noRequestReachesAPodThatIsAsleep_andTheRightStateFollows() {
    var sleeps = new AtomicInteger();
    Seeds.each(seed -> sleeps.addAndGet(run(new IdleCluster(seed))));
    assertThat(sleeps).as("how often a pod fell asleep").hasPositiveValue();
  }

  @Test
  void noRequestReachesAFrozenProcess_inOneProcessThatWakesItBeforeThatIsStored() {
    var sleeps = new AtomicInteger();
    Seeds.each(seed -> {
      var cluster = new IdleCluster(seed);
      cluster.wakesAtOnce = true;
      sleeps.addAndGet(run(cluster));
    });
    assertThat(sleeps).as("how often a process was frozen").hasPositiveValue();
  }

  private static int run(IdleCluster cluster) {
    cluster.begin();
    for (int i = 0; i < 30; i++) {
      int requests = cluster.random.nextInt(4);
      for (int j = 0; j < requests; j++) {
        var at = Duration.ofMillis(cluster.random.nextInt(20_000));
        cluster.loop.schedule(at,
            () -> cluster.activators.get(cluster.random.nextInt(2)).request());
      }
      if (cluster.random.nextInt(4) == 0) {
        cluster.loop.schedule(Duration.ofMillis(cluster.random.nextInt(20_000)),
            () -> cluster.replaceService(cluster.random.nextInt(6_000)));
      }
      if (cluster.random.nextInt(4) == 0) {
        boolean isReplaced = cluster.random.nextBoolean();
        cluster.loop.schedule(Duration.ofMillis(cluster.random.nextInt(20_000)),
            () -> cluster.crash(isReplaced));
      }
      if (!cluster.wakesAtOnce && cluster.random.nextInt(4) == 0) {
        cluster.loop.schedule(Duration.ofMillis(cluster.random.nextInt(20_000)), cluster::kill);
      }
      cluster.loop.advance(Duration.ofSeconds(20));
    }
    cluster.faults = false;
    cluster.loop.advance(Duration.ofSeconds(40));
    assertThat(cluster.waiting).as("requests that wait").isZero();
    assertThat(cluster.state == null ? "awake" : cluster.state.phase() + " " + cluster.replicas)
        .isIn("ASLEEP 1", "awake", "ASLEEP 0");
    if (cluster.state == null) {
      assertThat(cluster.replicas).as("it is idle, and awake").isZero();
    } else if (cluster.replicas > 0) {
      assertThat(cluster.pods).filteredOn(pod -> !pod.terminating).hasSize(1)
          .allMatch(pod -> pod.asleep);
    }
    cluster.activators.getFirst().request();
    cluster.loop.advance(Duration.ofSeconds(20));
    assertThat(cluster.waiting).as("requests that wait").isZero();
    return cluster.sleeps;
  }

}
