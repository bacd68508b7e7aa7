package dev.activator.ext.affinity.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.affinity.policy.DeletionCosts.Change;
import dev.activator.ext.affinity.policy.DeletionCosts.Pod;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DeletionCostsTest {
  private static final Map<String, Integer> KEYS = Map.of("10.0.0.1", 7, "10.0.0.2", 3);

  private static Pod pod(int number, String cost) {
    return new Pod("web-" + number, List.of("10.0.0." + number, "fd00::" + number), cost);
  }

  @Test
  void onlyPodsWhoseNumberOfKeysHasChangedAreWritten() {
    assertThat(DeletionCosts.changes(List.of(pod(1, "7"), pod(2, "2"), pod(3, ""), pod(4, "0")),
        KEYS, 10)).containsExactly(new Change("web-2", 3));
  }

  @Test
  void aPodWithoutKeysLosesTheCostThatItHad() {
    assertThat(DeletionCosts.changes(List.of(pod(3, "9")), KEYS, 10))
        .containsExactly(new Change("web-3", 0));
  }

  @Test
  void theLargestDifferencesAreWritten_ifThereAreTooMany() {
    assertThat(DeletionCosts.changes(
        List.of(pod(1, ""), pod(2, "-2147483648"), pod(3, "2"), pod(4, "many")), KEYS, 2))
        .containsExactly(new Change("web-2", 3), new Change("web-1", 7));
  }
}
