package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.WithoutLog;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Activators with the real throttlers, in virtual time, and all that can go wrong between them. */
@Tag("simulation")
@WithoutLog
class PermitLendingSimulationTest {
  private static final int BLOCK = 50;
  /** Without a rule, one of them fails. */
  private static final int SEEDS_FOR_A_FAULT = 200;

  static LongStream blocks() {
    return LongStream.range(0, Long.getLong("lending.seeds", 200) / BLOCK).map(i -> i * BLOCK);
  }

  @ParameterizedTest(name = "seeds from {0}")
  @MethodSource("blocks")
  void neverExceedsTheLimitNorWaitsBesideAnIdlePod(long first) {
    LongStream.range(first, first + BLOCK).forEach(PermitLendingSimulationTest::run);
  }

  /** For a look at one that failed: {@code -Dlending.seed=17}. */
  @Test
  @EnabledIfSystemProperty(named = "lending.seed", matches = "\\d+")
  void oneSeedEndsWell() {
    run(Long.getLong("lending.seed"));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"NONE", "LEASE_FROM_ANSWER"})
  void noticesIfARuleIsMissing(Faults fault) {
    assertThat(
        LongStream.range(0, SEEDS_FOR_A_FAULT).anyMatch(seed -> exceedsTheLimit(seed, fault)))
        .isTrue();
  }

  private static boolean exceedsTheLimit(long seed, Faults fault) {
    var activators = new SimulatedActivators(seed, fault, seed % 2 == 0);
    try {
      trouble(activators);
      return false;
    } catch (AssertionError e) {
      assertThat(activators.hasExceeded()).as(e.getMessage()).isTrue();
      return true;
    }
  }

  private static void run(long seed) {
    var activators = new SimulatedActivators(seed, Faults.NONE, seed % 2 == 0);
    try {
      trouble(activators);
      activators.calm();
      activators.fill();
      activators.checkRest();
    } catch (AssertionError e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private static void trouble(SimulatedActivators activators) {
    activators.pass(10_000);
    for (int i = 0; i < 150; i++) {
      activators.step();
    }
  }
}
