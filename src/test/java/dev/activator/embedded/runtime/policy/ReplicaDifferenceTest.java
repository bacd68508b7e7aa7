package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplicaDifferenceTest {
  private static final LocalPodState.View OLD = new LocalPodState.View("old", 1, true, true, 0);
  private static final LocalPodState.View YOUNG = new LocalPodState.View("young", 2, true, true, 0);
  private static final LocalPodState.View STARTING = new LocalPodState.View("starting", 0, false,
      true, 0);
  private static final ToIntFunction<String> FREE = _ -> 0;
  private static final LocalPodState.View LEAVING = new LocalPodState.View("leaving", 3, false,
      false, 0);

  @Test
  void makesWhatIsMissingAndDoesNotCountWhatLeaves() {
    assertThat(ReplicaDifference.of(4, List.of(OLD, LEAVING), FREE))
        .isEqualTo(new ReplicaDifference(3, List.of()));
  }

  @Test
  void stopsWhatIsNotReadyFirstAndThenTheYoungest() {
    assertThat(ReplicaDifference.of(1, List.of(OLD, YOUNG, STARTING, LEAVING), FREE))
        .isEqualTo(new ReplicaDifference(0, List.of("starting", "young")));
  }

  @Test
  void leavesThemAloneWhenTheirNumberIsRight() {
    assertThat(ReplicaDifference.of(2, List.of(OLD, YOUNG), FREE))
        .isEqualTo(new ReplicaDifference(0, List.of()));
  }

  @Test
  void stopsReadyPodsWithTheLowestDeletionCostFirst_afterThoseThatAreNotReady() {
    var costs = Map.of("old", -1, "young", 7, "starting", 100);

    assertThat(ReplicaDifference.of(1, List.of(OLD, YOUNG, STARTING), costs::get))
        .isEqualTo(new ReplicaDifference(0, List.of("starting", "old")));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "5, 5", "-5, -5", "2147483647, 2147483647", "2147483648, 0", "+5, 0", "05, 0",
      "1.5, 0", "'', 0", "' 5', 0"})
  void readsADeletionCostAsKubernetesDoes(String value, int cost) {
    assertThat(ReplicaDifference.parseDeletionCost(value)).isEqualTo(cost);
  }
}
