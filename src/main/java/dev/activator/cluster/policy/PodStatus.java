package dev.activator.cluster.policy;

import org.jspecify.annotations.Nullable;

/**
 * How far the start of one pod has come.
 *
 * @param name of the pod
 * @param failure why it does not start; null while nothing is wrong
 */
public record PodStatus(String name, @Nullable FailureReason failure) {
  /**
   * Why a pod does not start.
   *
   * @param reason Kubernetes' reason, one word
   * @param message Kubernetes' message; may be empty
   */
  public record FailureReason(Persistence persistence, String reason, String message) {}

  /** How long a failure may last before requests stop waiting for its end. */
  public enum Persistence {
    /** It cannot recover by itself, or has failed at its second try. */
    PERMANENT,
    /** The kubelet tries again, which may succeed. */
    RETRIED,
    /** It may end once there is a node with room: autoscalers add one within a minute or so. */
    SLOW
  }
}
