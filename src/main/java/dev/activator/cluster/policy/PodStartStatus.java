package dev.activator.cluster.policy;

import dev.activator.revision.StartPhase;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How far a pod is that starts, and why its containers do not start.
 *
 * @param ends when phases of its start ended, rounded down to a second; without those that have not
 */
public record PodStartStatus(String name, @Nullable FailureReason failure,
    Map<StartPhase, Instant> ends) {
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
