package dev.activator.ext.podstarts.policy;

import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a pod's start, and the reason why its containers do not start.
 *
 * @param uid differs from that of an earlier pod of its name
 * @param ends when each phase of the start ended, rounded down to a second; a phase that has not
 *     ended has no entry
 */
public record PodStartStatus(String name, String uid, @Nullable FailureReason failure,
    Map<StartPhase, Instant> ends) {
  public enum Persistence {
    /** It cannot recover by itself, or has failed repeatedly. */
    PERMANENT,
    /** The kubelet retries it. */
    RETRIED,
    /** The node has not prepared the pod. */
    SLOW,
    /** No node has room. An autoscaler may add one. */
    UNSCHEDULED
  }

  /**
   * How a container has ended.
   *
   * @param reason empty if it has not ended
   * @param message what it wrote to its termination log, or the end of its output if its
   *     {@code terminationMessagePolicy} says so
   */
  public record Termination(String reason, int exitCode, String message) {
    public static final Termination NONE = new Termination("", 0, "");
    private static final int MAX_SHOWN_LENGTH = 200;
    /** Those of a program that was stopped by SIGTERM or SIGKILL, or has handled SIGTERM. */
    private static final Set<Integer> STOPPED = Set.of(0, 137, 143);

    boolean isKnown() {
      return !reason.isEmpty() || exitCode != 0;
    }

    String text() {
      var line = lastLine();
      return "ended with exit code " + exitCode + (line.isEmpty() ? "" : ": " + line)
          + (STOPPED.contains(exitCode)
              ? "; where a livenessProbe or startupProbe failed, an Event of the pod says so"
              : "");
    }

    /** The last line that is not indented, as lines of a stack trace are. */
    private String lastLine() {
      var line = message.lines()
          .filter(one -> !one.isEmpty() && !Character.isWhitespace(one.charAt(0)))
          .reduce("", (_, last) -> last).strip();
      return line.length() > MAX_SHOWN_LENGTH ? line.substring(0, MAX_SHOWN_LENGTH) + "..." : line;
    }
  }

  /** Whether no node takes the pod. */
  public boolean isUnscheduled() {
    return failure != null && failure.persistence == Persistence.UNSCHEDULED;
  }

  /** Whether its node has not prepared it. */
  public boolean isUnprepared() {
    return failure != null && failure.persistence == Persistence.SLOW;
  }

  /**
   * The reason of the kubelet or the scheduler why a container does not start.
   *
   * <p><b>Source.</b> {@code images/types.go} and {@code container/sync_result.go} of the kubelet,
   * {@code PodConditionType} in {@code k8s.io/api/core/v1/types.go}.
   */
  public record FailureReason(Persistence persistence, String reason, String message) {
    private static final String CRASHES = "CrashLoopBackOff";
    private static final List<String> PERMANENT = List.of(CRASHES, "InvalidImageName",
        "ErrImageNeverPull");
    private static final List<String> RETRIED = List.of("ErrImagePull", "ImagePullBackOff",
        "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed",
        "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError",
        "PreStartHookError", "PostStartHookError", "CreatePodSandboxError");
    private static final String OUT_OF_MEMORY = "OOMKilled";
    private static final int OFTEN = 2;

    /**
     * The reason why a container is not ready; null during a normal start.
     *
     * @param name the container's name
     * @param before how the container ended last time, which {@code CrashLoopBackOff} hides
     */
    public static @Nullable FailureReason ofContainer(String name, String waiting, String message,
        Termination before, int restarts) {
      var container = "container " + name;
      if (before.reason.equals(OUT_OF_MEMORY) && (waiting.equals(CRASHES) || restarts >= OFTEN)) {
        return new FailureReason(Persistence.PERMANENT, OUT_OF_MEMORY,
            container + " needs more memory than its limit");
      }
      if (PERMANENT.contains(waiting)) {
        return new FailureReason(Persistence.PERMANENT, waiting,
            waiting.equals(CRASHES) && before.isKnown()
                ? container + " " + before.text()
                : joined(container, message));
      }
      return RETRIED.contains(waiting)
          ? new FailureReason(Persistence.RETRIED, waiting, joined(container, message))
          : null;
    }

    private static String joined(String container, String message) {
      return message.isEmpty() ? container : container + ": " + message;
    }

    public static FailureReason unschedulable(String reason, String message) {
      return new FailureReason(Persistence.UNSCHEDULED, reason, message);
    }

    /** The pod has a node, but its volumes or network are not ready. */
    public static FailureReason notPrepared() {
      return new FailureReason(Persistence.SLOW, "PodNotPrepared",
          "its node has not prepared its volumes and network");
    }
  }
}
