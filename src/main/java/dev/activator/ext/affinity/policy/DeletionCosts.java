package dev.activator.ext.affinity.policy;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The deletion costs of pods: the number of keys that each has issued. A ReplicaSet deletes the pods
 * with the lowest costs first.
 */
public final class DeletionCosts {
  public static final String ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";

  /**
   * A pod as it is in the API.
   *
   * @param cost the annotation's value; empty if there is none
   */
  public record Pod(String name, List<String> addresses, String cost) {}

  /** A cost that has to be written. */
  public record Change(String pod, int cost) {}

  private DeletionCosts() {}

  /**
   * The costs that have to be written; the largest differences first.
   *
   * @param keys the number of keys by the address of the pod that issued them
   */
  public static List<Change> changes(Collection<Pod> pods, Map<String, Integer> keys, int max) {
    return pods.stream().filter(pod -> written(pod) != cost(pod, keys))
        .sorted(Comparator
            .comparingLong((Pod pod) -> Math.abs((long) written(pod) - cost(pod, keys))).reversed()
            .thenComparing(Pod::name))
        .limit(max).map(pod -> new Change(pod.name(), cost(pod, keys))).toList();
  }

  private static int cost(Pod pod, Map<String, Integer> keys) {
    return pod.addresses().stream().mapToInt(address -> keys.getOrDefault(address, 0)).sum();
  }

  /** A pod without a valid cost counts as one with 0, as in Kubernetes. */
  private static int written(Pod pod) {
    try {
      return Integer.parseInt(pod.cost());
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
