package dev.activator.cluster.policy;

import dev.activator.cluster.policy.PodStatus.FailureReason;
import dev.activator.cluster.policy.PodStatus.Sign;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The words of Kubernetes for pods that do not start.
 *
 * <p>
 * <b>Source.</b> {@code pkg/kubelet/images/types.go}, {@code pkg/kubelet/container/sync_result.go},
 * and {@code PodConditionType} in {@code k8s.io/api/core/v1/types.go}.
 */
public final class FailureReasons {
  private static final List<String> LASTING = List.of("CrashLoopBackOff", "InvalidImageName",
      "ErrImageNeverPull");
  private static final List<String> PASSING = List.of("ErrImagePull", "ImagePullBackOff",
      "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed",
      "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError",
      "PreStartHookError", "PostStartHookError", "CreatePodSandboxError");
  private static final String OUT_OF_MEMORY = "OOMKilled";
  private static final int OFTEN = 2;

  private FailureReasons() {}

  /** Of a container that waits, for this reason; null if that is part of any start. */
  public static @Nullable FailureReason ofWaiting(String reason, String message) {
    if (LASTING.contains(reason)) {
      return new FailureReason(Sign.LASTING, reason, message);
    }
    return PASSING.contains(reason) ? new FailureReason(Sign.PASSING, reason, message) : null;
  }

  /**
   * Of a container that has ended before.
   *
   * @param reason why it ended last; {@code CrashLoopBackOff} does not say it
   * @param restarts how often it was started again
   * @param waitsAgain whether it waits for its next start
   */
  public static @Nullable FailureReason ofEnded(String reason, int restarts, boolean waitsAgain) {
    return reason.equals(OUT_OF_MEMORY) && (waitsAgain || restarts >= OFTEN)
        ? new FailureReason(Sign.LASTING, OUT_OF_MEMORY,
            "the container needs more memory than its limit")
        : null;
  }

  /** Of a pod that no node takes. */
  public static FailureReason unschedulable(String reason, String message) {
    return new FailureReason(Sign.SLOW, reason, message);
  }

  /** Of a pod that has a node, whose volumes or network do not come about. */
  public static FailureReason notPrepared() {
    return new FailureReason(Sign.SLOW, "PodNotPrepared",
        "its node has not prepared its volumes and network");
  }
}
