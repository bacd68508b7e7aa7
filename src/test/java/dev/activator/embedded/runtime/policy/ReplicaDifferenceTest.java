package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReplicaDifferenceTest {
  private static final ReplicaSetPodState OLD = new ReplicaSetPodState("old", 1, true, true, true,
      0);
  private static final ReplicaSetPodState YOUNG = new ReplicaSetPodState("young", 2, true, true,
      true, 0);
  private static final ReplicaSetPodState STARTING = new ReplicaSetPodState("starting", 0, true,
      false, true,
      0);
  private static final ReplicaSetPodState LEAVING = new ReplicaSetPodState("leaving", 3, false,
      false, false,
      0);

  @Test
  void makesWhatIsMissingAndDoesNotCountWhatLeaves() {
    assertThat(ReplicaDifference.of(4, List.of(OLD, LEAVING)))
        .isEqualTo(new ReplicaDifference(3, List.of()));
  }

  @Test
  void stopsWhatIsNotReadyFirstAndThenTheYoungest() {
    assertThat(ReplicaDifference.of(1, List.of(OLD, YOUNG, STARTING, LEAVING)))
        .isEqualTo(new ReplicaDifference(0, List.of("starting", "young")));
  }

  @Test
  void leavesThemAloneWhenTheirNumberIsRight() {
    assertThat(ReplicaDifference.of(2, List.of(OLD, YOUNG)))
        .isEqualTo(new ReplicaDifference(0, List.of()));
  }
}
