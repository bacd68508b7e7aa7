package dev.activator.ext.podstarts.policy;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What an Event says about a pod and its node: an autoscaler of nodes, of one that no node takes; the
 * kubelet and those who attach volumes, of one whose containers cannot be created yet.
 *
 * <p><b>Source.</b> {@code pkg/kubelet/events/event.go}; {@code eventing_scale_up_processor.go} of cluster-autoscaler and
 * {@code provisioning/scheduling/events.go} of Karpenter. A managed Karpenter has another name, such
 * as {@code eks-auto-mode/compute}, so the name of the component decides nothing.
 *
 * @param pod the uid of the pod
 * @param source the component that said it
 * @param at when it was said last
 */
public record NodeEvent(String pod, String source, Outlook outlook, String reason, String message,
    Instant at) {
  private static final String FAILED = "FailedScheduling";
  /** The scheduler has the same reason, and says so of each pod for which a node is then added. */
  private static final String FAILED_BY_KARPENTER = "Failed to schedule pod";

  /** What is said, and for how long that is valid if nothing else is said. */
  public enum Outlook {
    /** Both autoscalers give up a node that has not registered within 15 minutes. */
    COMING(Duration.ofMinutes(15)),
    /** Both say this again after five minutes at the latest. */
    NONE(Duration.ofMinutes(6)),
    /** The pod has a node, which cannot prepare it. An API server keeps Events for an hour. */
    UNPREPARED(Duration.ofHours(1));

    private final Duration validity;

    Outlook(Duration validity) {
      this.validity = validity;
    }
  }

  /** Null if an Event says nothing about a node. */
  public static @Nullable Outlook outlook(String reason, String message) {
    return switch (reason) {
      case "TriggeredScaleUp", "Nominated" -> Outlook.COMING;
      case "NotTriggerScaleUp" -> Outlook.NONE;
      case "FailedMount", "FailedMapVolume", "FailedAttachVolume", "FailedCreatePodSandBox",
          "FailedPrepareDynamicResources", "NetworkNotReady" ->
        Outlook.UNPREPARED;
      case FAILED -> message.startsWith(FAILED_BY_KARPENTER) ? Outlook.NONE : null;
      default -> null;
    };
  }

  boolean isValid(Instant now) {
    return at.plus(outlook.validity).isAfter(now);
  }
}
