package dev.activator.proxy.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.WithoutLog;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Callers and pods that follow generated scripts, on both sides of the product's request path, on a
 * network in memory and in virtual time. A seed replays exactly.
 */
@Tag("simulation")
@WithoutLog
class HostilePeersTest {
  private static final int BLOCK = 100;

  static LongStream blocks() {
    long from = Long.getLong("hostile.from", 0);
    return LongStream.range(0, Long.getLong("hostile.seeds", 1_000) / BLOCK)
        .map(i -> from + i * BLOCK);
  }

  @ParameterizedTest(name = "seeds from {0}")
  @MethodSource("blocks")
  void callersAndPodsSeeWhatTheirScriptsAllow(long first) {
    var failing = new ArrayList<Long>();
    Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);
    for (long seed = first; seed < first + BLOCK; seed++) {
      var run = new Run(Generator.sequence(seed));
      if (!run.faults().isEmpty()) {
        failing.add(seed);
      }
      run.outcomes().forEach(one -> outcomes.merge(one, 1, Integer::sum));
    }
    if (!failing.isEmpty()) {
      throw new AssertionError("seeds that fail: " + failing + "\n" + report(failing.getFirst()));
    }
    // Or the others prove little.
    assertThat(outcomes.getOrDefault(Outcome.COMPLETE, 0)).as("complete of %s", outcomes)
        .isGreaterThan(BLOCK / 4);
    assertThat(outcomes).containsKey(Outcome.REFUSED);
    assertThat(outcomes.keySet()).containsAnyOf(Outcome.BROKEN_OFF, Outcome.UNANSWERED);
  }

  /** For a look at one that failed: {@code -Dhostile.seed=17}. */
  @Test
  @EnabledIfSystemProperty(named = "hostile.seed", matches = "\\d+")
  void oneSeedSeesWhatItsScriptsAllow() {
    long seed = Long.getLong("hostile.seed");
    var run = new Run(Generator.sequence(seed));
    var faults = run.faults();
    assertThat(faults).as(faults.isEmpty() ? run.story() : report(seed)).isEmpty();
  }

  /** What happens, and what is left of it without what it fails without. */
  private static String report(long seed) {
    var whole = new Run(Generator.sequence(seed));
    var faults = whole.faults();
    String kind = kind(faults);
    var smallest = new Run(Shrinker.shrink(Generator.sequence(seed),
        candidate -> kind(new Run(candidate).faults()).equals(kind)));
    var left = smallest.faults();
    return whole.story() + "\n" + faults + "\n\nshrunk to\n" + smallest.story() + "\n" + left;
  }

  private static String kind(List<String> faults) {
    return faults.isEmpty() ? "" : faults.getFirst().replaceAll("[0-9]+|:.*", "");
  }
}
