package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.revision.Destination;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.WithoutLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What others serve while one activator can reach no pod. Four callers at each activator have a
 * request at a time and leave after ten seconds, and each of six pods has a limit of one.
 */
@Tag("simulation")
@WithoutLog
class CutFromPodsTest {
  private static final int CALLERS = 4;
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration POOLED = Duration.ofSeconds(8);
  /** Until the callers of requests over pooled connections have left, and each pod was tried. */
  private static final int SETTLED_SECONDS = 13;

  @ParameterizedTest(name = "{0} activators, exact: {1}")
  @CsvSource({"2, false", "2, true", "3, false", "3, true"})
  void othersServeAsBefore_onceItHasFoundNoPod(int count, boolean exact) {
    var scenes = LongStream.range(0, 3).mapToObj(seed -> new Scene(seed, count, exact)).toList();

    int before = scenes.stream().mapToInt(it -> it.served(10)).sum();
    scenes.forEach(it -> it.all.getFirst().cutFromPods(POOLED));
    scenes.forEach(it -> it.served(SETTLED_SECONDS));
    int after = scenes.stream().mapToInt(it -> it.served(10)).sum();

    assertThat(after / (double) before).as("%s of %s", after, before).isGreaterThan(0.95);
  }

  private static final class Scene {
    private final VirtualLoop world = new VirtualLoop();
    private final List<SimulatedActivator> all = new ArrayList<>();
    private final List<SimulatedLink> links = new ArrayList<>();

    Scene(long seed, int count, boolean exact) {
      var random = new Random(seed);
      var revision = LendingScene.revision(1, exact, PATIENCE, Map.of());
      for (int i = 0; i < count; i++) {
        var id = new PeerId("10.1.0." + (1 + i), "p");
        var self = new SimulatedActivator(id, new SkewedLoop(world, 1, 1_000_000, 10_000), revision,
            random, Duration.ofMillis(60), (to, message) -> links.stream()
                .filter(link -> link.isBetween(id, to))
                .forEach(link -> link.send(link.at(id), message)),
            this::started);
        all.forEach(
            other -> links.add(new SimulatedLink(world, random, self, other, Faults.NONE)));
        all.add(self);
      }
      var addresses = all.stream().map(it -> it.id().address()).collect(Collectors.toSet());
      all.forEach(it -> {
        it.activators(addresses);
        it.listed(addresses.stream().sorted().toList());
      });
      links.forEach(SimulatedLink::connect);
      world.advance(Duration.ofSeconds(1));
      all.forEach(it -> it.pods(LendingScene.pods(6)));
      world.advance(Duration.ofSeconds(2));
    }

    private void started(Destination pod) {
      assertThat(all.stream().mapToInt(it -> it.running(pod)).sum()).isLessThanOrEqualTo(1);
    }

    /** How many requests the others serve. */
    int served(int seconds) {
      int before = answeredByOthers();
      for (int millis = 0; millis < seconds * 1_000; millis++) {
        all.forEach(it -> {
          for (int requests = it.requests(); requests < CALLERS; requests++) {
            it.request();
          }
        });
        world.advance(Duration.ofMillis(1));
      }
      return answeredByOthers() - before;
    }

    private int answeredByOthers() {
      return all.stream().skip(1).mapToInt(SimulatedActivator::answered).sum();
    }
  }
}
