package dev.activator.cluster.policy;

import org.jspecify.annotations.Nullable;

/**
 * How far one pod has come.
 *
 * @param name of the pod
 * @param ailment what keeps it from starting; null while nothing does
 */
public record PodStatus(String name, @Nullable FailureReason ailment) {
  /**
   * What keeps a pod from starting.
   *
   * @param sign of what sort it is
   * @param reason as Kubernetes says it, in a word
   * @param message as Kubernetes says it; may be empty
   */
  public record FailureReason(Sign sign, String reason, String message) {}

  /** Sorts of ailments, by how long they must last until nobody should wait for their end. */
  public enum Sign {
    /** It cannot get better by itself, or has not at its second try. */
    LASTING,
    /** The next try may go well. */
    PASSING,
    /** Somebody may make room: clusters add nodes by themselves, which takes a minute. */
    SLOW
  }
}
