package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.policy.UnreadResponseBudget.Holding;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.api.Test;

class UnreadResponseBudgetTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long BYTES = 8_000_000;

  private final UnreadResponseBudget budget = new UnreadResponseBudget(BYTES);

  @ParameterizedTest(name = "{0} bytes: {1} too many")
  @CsvSource({"0, 0", "8000000, 0", "8000001, 1000001", "9000000, 2000000"})
  void freesAnEighthMoreThanItMust(long all, long excess) {
    assertThat(budget.excess(all)).isEqualTo(excess);
  }

  @Test
  void endsWhoTakesNothingBeforeWhoTakesMuch() {
    var stalled = new Holding(0, 1_000_000, 0, SECOND);
    var fast = new Holding(1, 1_000_000, 50_000_000, SECOND);
    var slow = new Holding(2, 1_000_000, 10_000, SECOND);

    assertThat(budget.order(List.of(fast, slow, stalled))).containsExactly(stalled, slow, fast);
  }

  @Test
  void endsWhoStalledForLongBeforeWhoHasJustBegun() {
    var old = new Holding(0, 64_000, 0, 10 * SECOND);
    var young = new Holding(1, 64_000, 0, SECOND / 10);

    assertThat(budget.order(List.of(young, old))).containsExactly(old, young);
  }

  @Test
  void sparesWhoHoldsLittleWhileAnotherHoldsMuch() {
    // given a slow telephone, and one that takes more at a time but holds a hundred times as much
    var phone = new Holding(0, 20_000, 1_000, 10 * SECOND);
    var large = new Holding(1, 2_000_000, 1_000_000, SECOND);

    assertThat(budget.order(List.of(phone, large))).containsExactly(large, phone);
  }

  @Test
  void endsTheLargestOfThoseThatAreAsSlow() {
    var small = new Holding(0, 1_000_000, 0, SECOND);
    var large = new Holding(1, 1_500_000, 0, SECOND);
    var least = new Holding(2, 10, 0, SECOND);

    assertThat(budget.order(List.of(least, small, large))).containsExactly(large, small, least);
  }

  /** A connection in the simulation: its pod is always faster than its caller. */
  private static final class Caller {
    private final long window;
    private final long takesEachStep;
    private long bytes;
    private long taken;
    private long steps;

    private Caller(long window, long takesEachStep) {
      this.window = window;
      this.takesEachStep = takesEachStep;
    }

    private void step() {
      steps++;
      long takes = Math.min(bytes, takesEachStep);
      taken += takes;
      bytes = window;
    }

    private boolean isStalled() {
      return takesEachStep == 0;
    }
  }

  static List<Long> seeds() {
    return new Random(16).longs(200).boxed().toList();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void endsOnlyStalledCallers_whenTheBudgetIsExceeded(long seed) {
    var random = new Random(seed);
    var callers = new ArrayList<Caller>();
    int readers = 0;
    for (int step = 0; step < 100; step++) {
      // when readers come, who always fit, and beside them any number that read nothing
      if (readers < 50 && random.nextBoolean()) {
        callers.add(new Caller(64_000, 1 + random.nextInt(64_000)));
        readers++;
      }
      for (int more = random.nextInt(40); more > 0; more--) {
        callers.add(new Caller(1 + random.nextInt(1_600_000), 0));
      }
      callers.forEach(Caller::step);

      long all = callers.stream().mapToLong(one -> one.bytes).sum();
      long excess = budget.excess(all);
      if (excess > 0) {
        var holdings = new ArrayList<Holding>();
        for (int i = 0; i < callers.size(); i++) {
          var one = callers.get(i);
          holdings.add(new Holding(i, one.bytes, one.taken, one.steps * SECOND));
        }
        var ended = new ArrayList<Caller>();
        for (var next : budget.order(holdings)) {
          if (excess > 0) {
            excess -= next.bytes();
            ended.add(callers.get(next.index()));
          }
        }
        // then only those that read nothing are ended, and the sum is within the budget
        assertThat(ended).allMatch(Caller::isStalled);
        callers.removeAll(ended);
      }
      assertThat(callers.stream().mapToLong(one -> one.bytes).sum()).isLessThanOrEqualTo(BYTES);
    }
    assertThat(callers.stream().filter(one -> !one.isStalled())).hasSize(readers);
  }
}
