package dev.activator.waking.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CallChainEdgeTest {
  /** + is a call, - an episode without one. */
  private static CallChainEdge after(String episodes) {
    var edge = CallChainEdge.UNKNOWN;
    for (char one : episodes.toCharArray()) {
      edge = one == '+' ? edge.called(100) : edge.missed();
    }
    return edge;
  }

  @ParameterizedTest(name = "{0} wakes: {1}")
  @CsvSource({"'', false", "+, false", "++, false", "+++, true", "++++++, true",
      // With a miss, at most a tenth of the probability may lie below 0.7.
      "+++-, false", "+++++-, false", "++++++++++-, false", "++++++++++++++++-, true",
      "+-+++, false", "+-++++++++++++, true",
      "+-+-+-+-+-, false",
      // Unlearned by three misses in a row, however often it was called before.
      "++++++++++++++++++++--, true", "++++++++++++++++++++---, false",
      // Then every tenth episode tries it, if it is called again, and a call in it ends that.
      "+++---+++, false", "+++---+++++++++, true", "+++---++++++++++, true",
      "+++---+++++++++++, true", "+++---+++++++++-, false",
      "+++---+++++++-+-, false"})
  void wakesAfterThreeCallsInARowOrIfItIsCalledMostly(String episodes, boolean wakes) {
    assertThat(after(episodes).wakes()).isEqualTo(wakes);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void aBranchThatIsTakenHalfTheTimeIsWokenInVainAtMostThreeTimesInARow(long seed) {
    var random = new Random(seed);
    var edge = CallChainEdge.UNKNOWN.called(100);
    int inARow = 0;
    int vain = 0;
    for (int i = 0; i < 10_000; i++) {
      boolean called = random.nextBoolean();
      boolean woken = edge.wakes();
      inARow = woken && !called ? inARow + 1 : called ? 0 : inARow;
      vain += woken && !called ? 1 : 0;
      edge = called ? edge.called(100) : edge.missed();

      assertThat(inARow).isLessThanOrEqualTo(3);
    }
    assertThat(vain).isLessThan(300);
  }

  @Test
  void aBranchThatIsNoLongerTakenIsUnlearnedAfterThreeEpisodes() {
    var edge = after("+".repeat(100));
    int vain = 0;
    for (int i = 0; i < 1_000; i++) {
      vain += edge.wakes() ? 1 : 0;
      edge = edge.missed();
    }
    assertThat(vain).isEqualTo(3);
  }

  @Test
  void oldEpisodesCountLess() {
    assertThat(after("+".repeat(20) + "-".repeat(2) + "+".repeat(100)).share())
        .isCloseTo(1, within(0.01));
    assertThat(after("+-".repeat(200)).hits()).isLessThan(20);
  }

  @Test
  void theSlowAndTheQuickCallsOfTheLastSixteenCount() {
    var edge = CallChainEdge.UNKNOWN.called(60_000);
    for (int i = 1; i <= 16; i++) {
      edge = edge.called(i * 10);
    }
    assertThat(edge.delaysMillis()).hasSize(16);
    assertThat(edge.soonMillis()).isEqualTo(20);
    assertThat(edge.lateMillis()).isEqualTo(150);
    assertThat(edge).hasToString("13 of 13 times");
  }

  @ParameterizedTest(name = "P(Beta({1}, {2}) < {0}) = {3}")
  @CsvSource({"0.7, 4, 1, 0.2401", "0.7, 7, 1, 0.0823543", "0.5, 3, 3, 0.5", "0.3, 1, 4, 0.7599",
      "0.7, 21.5, 4.25, 0.0465"})
  void theProbabilityBelowABoundIsThatOfTheBetaDistribution(double x, double a, double b,
      double expected) {
    assertThat(BetaDistribution.cdf(x, a, b)).isCloseTo(expected, within(0.005));
  }
}
