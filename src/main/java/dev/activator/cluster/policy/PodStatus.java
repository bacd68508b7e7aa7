package dev.activator.cluster.policy;

import org.jspecify.annotations.Nullable;

/** @param failure why the pod does not start; null while nothing is wrong */
public record PodStatus(String name, @Nullable FailureReason failure) {
  /**
   * @param reason one word of Kubernetes
   * @param message may be empty
   */
  public record FailureReason(Persistence persistence, String reason, String message) {}

  public enum Persistence {
    /** Cannot recover by itself, or has failed again. */
    PERMANENT,
    /** The kubelet retries. */
    RETRIED,
    /** No node has room, or the node is not prepared; autoscalers add a node in about a minute. */
    SLOW
  }
}
