package dev.activator.cluster.policy;

import dev.activator.cluster.policy.PodStartStatus.FailureReason;
import dev.activator.cluster.policy.PodStartStatus.Persistence;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides which of the kubelet's reasons mean that a container does not start.
 *
 * <p><b>Source.</b> {@code images/types.go} and {@code container/sync_result.go} of the kubelet,
 * {@code PodConditionType} in {@code k8s.io/api/core/v1/types.go}.
 */
public final class FailureReasons {
  private static final String CRASHES = "CrashLoopBackOff";
  private static final List<String> PERMANENT = List.of(CRASHES, "InvalidImageName",
      "ErrImageNeverPull");
  private static final List<String> RETRIED = List.of("ErrImagePull", "ImagePullBackOff",
      "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed",
      "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError",
      "PreStartHookError", "PostStartHookError", "CreatePodSandboxError");
  private static final String OUT_OF_MEMORY = "OOMKilled";
  private static final int OFTEN = 2;

  private FailureReasons() {}

  /**
   * For a container that is not ready; null in a normal start.
   *
   * @param ended the last termination's reason, which {@code CrashLoopBackOff} hides
   */
  public static @Nullable FailureReason ofContainer(String waiting, String message, String ended,
      int restarts) {
    if (ended.equals(OUT_OF_MEMORY) && (waiting.equals(CRASHES) || restarts >= OFTEN)) {
      return new FailureReason(Persistence.PERMANENT, OUT_OF_MEMORY,
          "the container needs more memory than its limit");
    }
    if (PERMANENT.contains(waiting)) {
      return new FailureReason(Persistence.PERMANENT, waiting, message);
    }
    return RETRIED.contains(waiting)
        ? new FailureReason(Persistence.RETRIED, waiting, message)
        : null;
  }

  public static FailureReason unschedulable(String reason, String message) {
    return new FailureReason(Persistence.SLOW, reason, message);
  }

  /** The pod has a node, but its volumes or network are not ready. */
  public static FailureReason notPrepared() {
    return new FailureReason(Persistence.SLOW, "PodNotPrepared",
        "its node has not prepared its volumes and network");
  }
}
