package dev.activator.waking;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import dev.activator.waking.CallChains.Mode;
import dev.activator.waking.CallChains.Source;
import dev.activator.waking.ChainWorld.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Twenty random graphs of services: chains, fan-outs and branches. Each is requested sixty times from zero,
 * in three worlds with the same programs and the same dice: without any start ahead of requests, with what
 * is learned, and with an oracle that starts at once what will be called.
 */
class ChainSimulationTest {
  private static final int EPISODES = 60;

  /** @param calls each callee with its probability and the time before it is called */
  private record Graph(Map<String, Duration> services, Map<String, List<Call>> calls) {
    static Graph of(Random random) {
      int size = 4 + random.nextInt(9);
      var services = new HashMap<String, Duration>();
      var calls = new HashMap<String, List<Call>>();
      for (int i = 0; i < size; i++) {
        services.put("s" + i, Duration.ofMillis(500 + random.nextInt(4_500)));
        if (i > 0) {
          // A chain, or one more branch of an earlier service.
          int caller = random.nextInt(3) > 0 ? i - 1 : random.nextInt(i);
          calls.computeIfAbsent("s" + caller, _ -> new ArrayList<>()).add(new Call("s" + i,
              probability(random), Duration.ofMillis(10 + random.nextInt(400))));
        }
      }
      return new Graph(services, calls);
    }

    /** Most calls are made always; some are branches, which are taken as often as not, or rarely. */
    private static double probability(Random random) {
      return switch (random.nextInt(10)) {
        case 0 -> 0.5;
        case 1 -> 0.1;
        default -> 1;
      };
    }

    Map<String, List<Step>> episode(Random random) {
      var programs = new HashMap<String, List<Step>>();
      IntStream.range(0, services.size()).mapToObj(i -> "s" + i).forEach(name -> {
        var steps = new ArrayList<Step>();
        for (var call : calls.getOrDefault(name, List.of())) {
          if (random.nextDouble() < call.probability) {
            steps.add(new Step(call.callee, call.after));
          }
        }
        programs.put(name, steps);
      });
      return programs;
    }
  }

  private record Call(String callee, double probability, Duration after) {}

  /** @param inVainInARow the most often that a service was woken in vain without a call between */
  private record Result(long millis, long started, long unused, int inVainInARow) {}

  private static Result run(long seed, boolean oracle, Mode mode) {
    var graph = Graph.of(new Random(seed));
    var random = new Random(seed + 1);
    var world = new ChainWorld(mode);
    new TreeSet<>(graph.services.keySet())
        .forEach(name -> world.service(name, graph.services.get(name)));
    long millis = 0;
    int inVainInARow = 0;
    var inVain = new HashMap<String, Integer>();
    for (int i = 0; i < EPISODES; i++) {
      var programs = graph.episode(random);
      var before = world.services.values().stream()
          .collect(Collectors.toMap(one -> one.id, one -> one.begun));
      if (oracle) {
        reached("s0", programs).forEach(one -> world.starts.start(one, "it is foreseen"));
      }
      millis += world.answer("s0", programs).toMillis();
      world.sleep();
      var called = reached("s0", programs);
      for (var one : world.services.values()) {
        if (called.contains(one.id)) {
          inVain.remove(one.id.name());
        } else if (one.begun > before.get(one.id) && !one.id.name().equals("s0")) {
          inVainInARow = Math.max(inVainInARow, inVain.merge(one.id.name(), 1, Integer::sum));
        }
      }
    }
    world.end();
    var counts = world.counts;
    long used = counts.used(Source.LEARNED) + counts.late(Source.LEARNED);
    return new Result(millis, used + counts.unused(Source.LEARNED),
        counts.unused(Source.LEARNED), inVainInARow);
  }

  private static List<RevisionId> reached(String from, Map<String, List<Step>> programs) {
    var found = new ArrayList<RevisionId>();
    for (var step : programs.get(from)) {
      found.add(ChainWorld.id(step.callee()));
      found.addAll(reached(step.callee(), programs));
    }
    return found;
  }

  @Test
  void savesMostOfWhatAnOracleWouldAndStartsLittleInVain() {
    var seeds = LongStream.rangeClosed(1, 20).boxed().toList();
    long without = 0;
    long learned = 0;
    long foreseen = 0;
    long started = 0;
    long unused = 0;
    int inVainInARow = 0;
    for (long seed : seeds) {
      var off = run(seed, false, Mode.OFF);
      var on = run(seed, false, Mode.ON);
      var oracle = run(seed, true, Mode.OFF);
      without += off.millis;
      learned += on.millis;
      foreseen += oracle.millis;
      started += on.started;
      unused += on.unused;
      inVainInARow = Math.max(inVainInARow, on.inVainInARow);
    }
    double saved = (double) (without - learned) / (without - foreseen);

    assertThat(saved).as("of what the oracle saves").isGreaterThan(0.8);
    assertThat((double) unused / started).as("starts in vain").isLessThan(0.05);
    assertThat(inVainInARow).as("in vain in a row, of one service").isBetween(1, 3);
  }
}
