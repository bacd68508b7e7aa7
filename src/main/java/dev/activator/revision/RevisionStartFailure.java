package dev.activator.revision;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The reason why a revision gets no pods, taken from its condition {@code ContainerHealthy} or
 * {@code ResourcesAvailable}, or from a problem of a ScaledService.
 *
 * @param reason one word, such as {@code ExitCode1}
 * @param message may be empty
 * @param since the condition's {@code lastTransitionTime}, or the name of the pod that fails; it
 *     distinguishes two failures with the same reason
 * @param lasting true if no pod can start before a user removes the cause; then not only the
 *     waiting requests are rejected, but also new ones
 * @param forCallers the part of the message that callers may read; may be empty
 */
public record RevisionStartFailure(String reason, String message, String since, boolean lasting,
    String forCallers) {
  /** The scheduler's reasons, and those of autoscalers of nodes. */
  private static final Set<String> WITHOUT_NODE = Set.of("Unschedulable", "SchedulerError",
      "SchedulingGated", "NotTriggerScaleUp", "FailedScheduling");

  /** A failure that the next start may not have. */
  public RevisionStartFailure(String reason, String message, String since) {
    this(reason, message, since, false, "");
  }

  /** Whether the pods run, but none was ready in time. */
  public boolean isOverdue() {
    return reason.equals("ProgressDeadlineExceeded");
  }

  /** Whether no node takes the pods. */
  public boolean isWithoutNode() {
    return WITHOUT_NODE.contains(reason);
  }

  /**
   * A lasting failure. Its message is from Kubernetes and may contain details that callers must not
   * read.
   */
  public static RevisionStartFailure lasting(String reason, String message) {
    return new RevisionStartFailure(reason, message, "", true, "");
  }

  /** A lasting failure whose message callers may read. */
  public static RevisionStartFailure shown(String reason, String message) {
    return new RevisionStartFailure(reason, message, "", true, message);
  }

  /**
   * The reason why a revision's containers do not start, taken from the status of its pods.
   *
   * @param failure null if a pod may still start, or if nothing is known
   */
  public record ContainerFailure(RevisionId revision, @Nullable RevisionStartFailure failure) {}
}
