package dev.activator.embedded.runtime.policy;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.regex.Pattern;

/**
 * The pods that a ReplicaSet must create or stop to reach its number of replicas.
 *
 * <p><b>Source.</b> {@code ActivePodsWithRanks} of kube-controller-manager's {@code pkg/controller}.
 *
 * @param missing the number of pods to create
 * @param surplus the names of the pods to stop
 */
public record ReplicaDifference(int missing, List<String> surplus) {
  private static final Pattern NUMBER = Pattern.compile("0|-?[1-9][0-9]*");

  /**
   * The difference for a number of replicas. Pods that are not ready are stopped first, then those
   * with the lowest deletion cost, then the youngest ones.
   *
   * @param deletionCost of the pod of this name; called only if pods must be stopped
   */
  public static ReplicaDifference of(int wanted, Collection<LocalPodState.View> pods,
      ToIntFunction<String> deletionCost) {
    var counted = pods.stream().filter(LocalPodState.View::wanted).toList();
    int surplus = Math.max(0, counted.size() - wanted);
    var firstToGo = Comparator.comparing(LocalPodState.View::ready)
        .thenComparingInt(pod -> deletionCost.applyAsInt(pod.name()))
        .thenComparing(LocalPodState.View::order, Comparator.reverseOrder());
    return new ReplicaDifference(Math.max(0, wanted - counted.size()),
        surplus == 0
            ? List.of()
            : counted.stream().sorted(firstToGo).limit(surplus).map(LocalPodState.View::name)
                .toList());
  }

  /** The value of the annotation {@code controller.kubernetes.io/pod-deletion-cost}; 0 if it is invalid. */
  public static int parseDeletionCost(String value) {
    try {
      return NUMBER.matcher(value).matches() ? Integer.parseInt(value) : 0;
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
