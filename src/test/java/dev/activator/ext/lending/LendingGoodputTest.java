package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.WithoutLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * How many requests several activators serve in time, next to one that has all requests and all pods.
 * Most requests come to one activator, another one every five seconds; callers leave after a second. A
 * permit that moves is idle for a round trip, of 0.1 to 2 ms here.
 */
@Tag("simulation")
@WithoutLog
class LendingGoodputTest {
  private static final Duration SERVICE = Duration.ofMillis(100);
  private static final Duration PATIENCE = Duration.ofSeconds(1);
  private static final int STEP_MILLIS = 5;
  private static final int STEPS = 60_000 / STEP_MILLIS;
  private static final double STEPS_A_SERVICE = SERVICE.toMillis() / (double) STEP_MILLIS;

  @ParameterizedTest(name = "{0} activators, {1} pods of {2}, {3} of what they can serve")
  @CsvSource({"2, 2, 1, 0.9", "2, 8, 1, 1.2", "3, 1, 1, 1.2", "3, 8, 2, 0.9", "5, 4, 1, 1.5",
      "5, 20, 1, 0.95"})
  void servesAlmostAsManyAsOneCentralQueue(int activators, int pods, int limit, double load) {
    long central = LongStream.range(0, 3).map(seed -> served(1, pods, limit, load, seed)).sum();
    long lent = LongStream.range(0, 3).map(seed -> served(activators, pods, limit, load, seed))
        .sum();

    assertThat(lent / (double) central).as("%s of %s", lent, central).isGreaterThan(0.98);
  }

  private static long served(int count, int pods, int limit, double load, long seed) {
    var world = new VirtualLoop();
    var random = new Random(seed);
    var revision = new Revision(SimulatedActivator.ID, "", PortProtocol.HTTP1, limit,
        new RequestTimeouts(PATIENCE, Duration.ZERO, Duration.ZERO), true,
        ReadinessProbeSpec.CONNECT,
        Map.of(), Map.of(), null);
    var all = new ArrayList<SimulatedActivator>();
    var links = new ArrayList<SimulatedLink>();
    for (int i = 0; i < count; i++) {
      var id = new PeerId("10.1.0." + (1 + i), "p");
      var self = new SimulatedActivator(id, new SkewedLoop(world, 1, 1_000_000, 10_000), revision,
          random, SERVICE, (to, message) -> send(links, id, to, message), _ -> {
          });
      all.forEach(
          other -> links.add(new SimulatedLink(world, random, self, other, Faults.NONE)));
      all.add(self);
    }
    var addresses = all.stream().map(it -> it.id().address()).collect(Collectors.toSet());
    var listed = IntStream.range(0, pods).mapToObj(i -> new Destination("10.2.0." + i, 8012))
        .toList();
    all.forEach(it -> {
      it.activators(addresses);
      it.listed(addresses.stream().sorted().toList());
      it.pods(listed);
    });
    links.forEach(SimulatedLink::connect);
    world.advance(Duration.ofSeconds(5));
    var arrivals = new Random(seed);
    double aStep = load * pods * limit / STEPS_A_SERVICE;
    double due = 0;
    for (int step = 0; step < STEPS; step++) {
      var busy = all.get(step * STEP_MILLIS / 5_000 % count);
      for (due += arrivals.nextDouble() * 2 * aStep; due >= 1; due--) {
        (arrivals.nextInt(10) < 8 ? busy : all.get(arrivals.nextInt(count))).request();
      }
      world.advance(Duration.ofMillis(STEP_MILLIS));
    }
    return all.stream().mapToLong(SimulatedActivator::answered).sum();
  }

  private static void send(List<SimulatedLink> links, PeerId from, PeerId to,
      PeerMessage message) {
    links.stream().filter(link -> link.isBetween(from, to))
        .forEach(link -> link.send(link.at(from), message));
  }
}
