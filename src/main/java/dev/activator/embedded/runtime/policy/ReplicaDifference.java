package dev.activator.embedded.runtime.policy;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * The pods that a ReplicaSet must create or stop to reach its number of replicas.
 *
 * @param missing the number of pods to create
 * @param surplus the names of the pods to stop
 */
public record ReplicaDifference(int missing, List<String> surplus) {
  private static final Comparator<ReplicaSetPodState> FIRST_TO_GO = Comparator
      .comparing(ReplicaSetPodState::ready)
      .thenComparing(ReplicaSetPodState::order, Comparator.reverseOrder());

  /**
   * The difference for a number of replicas. Pods that are not ready are stopped first, then the
   * youngest ones.
   */
  public static ReplicaDifference of(int wanted, Collection<ReplicaSetPodState> pods) {
    var counted = pods.stream().filter(ReplicaSetPodState::wanted).toList();
    return new ReplicaDifference(Math.max(0, wanted - counted.size()),
        counted.stream().sorted(FIRST_TO_GO).limit(Math.max(0, counted.size() - wanted))
            .map(ReplicaSetPodState::name).toList());
  }
}
