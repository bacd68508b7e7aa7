package dev.activator.cluster.policy;

import org.jspecify.annotations.Nullable;

/** Why the containers of a pod do not start. */
public record PodStartStatus(String name, @Nullable FailureReason failure) {
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
