package dev.activator.autoscaler;

import dev.activator.autoscaler.policy.IdleHistory;
import dev.activator.autoscaler.policy.ActiveCondition;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * How one workload is scaled, and why, at one moment.
 *
 * @param desired replicas the autoscaler wants, within its bounds; empty before its first decision
 * @param replicas of the workload's spec, as last read or written; empty before the first read
 * @param current replicas that the workload's status counts
 * @param ready pods that are ready
 * @param active the condition {@code Active}
 * @param explanation such as {@code 3 = ceil(52 in flight ÷ 20), stable window}; always a sentence
 * @param trouble what keeps it from being scaled, the condition {@code Ready}; null if nothing does
 * @param note what a condition {@code Ready} that is true should say, such as who holds the scale;
 *     empty if nothing
 * @param keptWarm by the times for which it was idle; null if that is off
 */
public record ScalingView(RevisionId id, ScaleTargetRef workload, OptionalInt desired,
    OptionalInt replicas, OptionalInt current, int ready, ActiveCondition active,
    String explanation,
    @Nullable Trouble trouble, String note,
    IdleHistory.@Nullable View keptWarm) {

  /**
   * A condition {@code Ready} that is false.
   *
   * @param reason in one word, such as {@code TargetNotFound} or {@code Forbidden}
   */
  public record Trouble(String reason, String message) {}

  /** Whether only the explanation, which is new every second, may differ. */
  boolean equalsButExplanation(ScalingView other) {
    return equals(new ScalingView(other.id, other.workload, other.desired, other.replicas,
        other.current, other.ready, other.active, explanation, other.trouble, other.note,
        other.keptWarm));
  }
}
