package dev.activator.cluster.policy;

import java.util.List;
import java.util.OptionalInt;

/**
 * The status of a ScaledService.
 *
 * @param replicas that the workload has
 * @param desiredReplicas that the autoscaler wants
 * @param observedGeneration of the spec that this is about
 */
public record ScaledServiceStatus(OptionalInt replicas, OptionalInt desiredReplicas,
    int observedGeneration, List<Condition> conditions) {
  public static final ScaledServiceStatus NONE = new ScaledServiceStatus(OptionalInt.empty(),
      OptionalInt.empty(), 0, List.of());

  public ScaledServiceStatus {
    conditions = List.copyOf(conditions);
  }

  /**
   * @param status {@code True}, {@code False} or {@code Unknown}
   * @param reason one word
   * @param message a sentence; may be empty
   * @param since when the status changed, as RFC 3339 writes it
   */
  public record Condition(String type, String status, String reason, String message,
      String since) {}
}
