package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.WithoutLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two or three activators under load, whose links are cut in one direction or both, while all of
 * them reach all pods.
 */
@Tag("simulation")
@WithoutLog
class PartitionSimulationTest {
  private static final int SEEDS = 6;
  /** The silence after which a link is given up, the lease, and a margin. */
  private static final Duration MAX_PAUSE = SimulatedLink.SILENCE.plus(PeerActivator.LEASE)
      .plusSeconds(6);

  @ParameterizedTest(name = "{0} activators, exact: {1}")
  @CsvSource({"2, false", "2, true", "3, false", "3, true"})
  void servesOn_orNeverExceedsTheLimit(int count, boolean exact) {
    for (long seed = 0; seed < SEEDS; seed++) {
      try {
        new Partitioned(seed, count, exact).run();
      } catch (AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static final class Partitioned {
    private final VirtualLoop world = new VirtualLoop();
    private final Random random;
    private final boolean exact;
    private final int limit;
    private final List<Destination> pods;
    private final List<SimulatedActivator> all = new ArrayList<>();
    private final List<SimulatedLink> links = new ArrayList<>();
    private final Map<SimulatedActivator, Integer> answered = new HashMap<>();
    private final Map<SimulatedActivator, Duration> lastProgress = new HashMap<>();

    Partitioned(long seed, int count, boolean exact) {
      this.random = new Random(seed);
      this.exact = exact;
      this.limit = List.of(1, 1, 2, 5).get(random.nextInt(4));
      this.pods = LendingScene.pods(1 + random.nextInt(6));
      var revision = LendingScene.revision(limit, exact, Duration.ofSeconds(1), Map.of());
      var service = Duration.ofMillis(List.of(5, 50, 300).get(random.nextInt(3)));
      IntStream.range(0, count).forEach(i -> start(i, revision, service));
      var addresses = all.stream().map(it -> it.id().address()).collect(Collectors.toSet());
      all.forEach(it -> {
        it.activators(addresses);
        it.listed(addresses.stream().sorted().toList());
      });
      world.advance(Duration.ofMillis(10));
      links.forEach(SimulatedLink::connect);
      world.advance(Duration.ofSeconds(1));
      all.forEach(it -> it.pods(pods));
      world.advance(Duration.ofSeconds(1));
    }

    private void start(int number, Revision revision, Duration service) {
      var id = new PeerId("10.1.0." + (1 + number), "p" + number);
      var loop = new SkewedLoop(world, 0.95 + random.nextDouble() / 10, random.nextLong(), 10_000);
      var self = new SimulatedActivator(id, loop, revision, random, service,
          (to, message) -> links.stream()
              .filter(link -> link.isBetween(id, to)).findFirst()
              .ifPresent(link -> link.send(link.at(id), message)),
          this::started);
      all.forEach(
          other -> links.add(new SimulatedLink(world, random, self, other, Faults.NONE)));
      all.add(self);
    }

    private void started(Destination pod) {
      if (exact) {
        assertThat(all.stream().mapToInt(it -> it.running(pod)).sum())
            .as("requests on %s after %s", pod, world.elapsed()).isLessThanOrEqualTo(limit);
      }
    }

    void run() {
      load(Duration.ofSeconds(5));
      for (int i = 0; i < 3; i++) {
        var link = links.get(random.nextInt(links.size()));
        int directions = 1 + random.nextInt(3);
        link.partition((directions & 1) != 0, (directions & 2) != 0,
            Duration.ofSeconds(1 + random.nextInt(90)));
        load(Duration.ofSeconds(20 + random.nextInt(120)));
      }
      load(Duration.ofSeconds(120));
      all.forEach(it -> assertThat(it.queued()).as("after it has healed").isLessThan(200));
    }

    /** More requests than permits come, so that permits are lent in all directions. */
    private void load(Duration time) {
      var until = world.elapsed().plus(time);
      while (world.elapsed().compareTo(until) < 0) {
        var at = all.get(random.nextInt(all.size()));
        int missing = 2 * limit * pods.size() - (int) at.queued();
        IntStream.range(0, Math.clamp(missing, 0, 4)).forEach(_ -> at.request());
        world.advance(Duration.ofMillis(20 + random.nextInt(60)));
        all.forEach(this::check);
      }
    }

    private void check(SimulatedActivator activator) {
      var now = world.elapsed();
      int before = answered.getOrDefault(activator, -1);
      answered.put(activator, activator.answered());
      if (activator.queued() == 0 || activator.answered() != before) {
        lastProgress.put(activator, now);
      } else if (!exact) {
        assertThat(now.minus(lastProgress.get(activator)))
            .as("%s answers nothing, after %s: %s", activator.id(), now, activator.view())
            .isLessThan(MAX_PAUSE);
      }
    }
  }
}
