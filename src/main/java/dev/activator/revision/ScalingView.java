package dev.activator.revision;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of the scaling of one workload: replicas, conditions, and an explanation.
 *
 * @param desired the replicas that the autoscaler wants, within the bounds; empty before its first
 *     decision
 * @param replicas the replicas in the workload's spec, as last read or written; empty before the
 *     first read
 * @param current the replicas in the workload's status
 * @param ready the number of pods that are ready
 * @param state whether it runs; null before the first read
 * @param active the condition {@code Active}
 * @param explanation such as {@code 3 = ceil(52 in flight ÷ 20), stable window}; always a sentence
 * @param trouble why the workload cannot be scaled, for the condition {@code Ready}; null if it can
 * @param note the message of a condition {@code Ready} that is true, for instance that another
 *     client has set the replicas; may be empty
 * @param keptWarm the effect of keeping a pod by earlier idle times; null if that is switched off
 */
public record ScalingView(RevisionId id, ScaleTarget workload, OptionalInt desired,
    OptionalInt replicas, OptionalInt current, int ready, @Nullable ScaleState state,
    ActiveCondition active,
    String explanation,
    @Nullable Trouble trouble, String note,
    @Nullable KeepWarmEffect keptWarm) {

  /**
   * The reason and message of a condition {@code Ready} that is false.
   *
   * @param reason in one word, such as {@code TargetNotFound} or {@code Forbidden}
   */
  public record Trouble(String reason, String message) {}

  /** Whether the views are equal except for the explanation, which changes every second. */
  public boolean equalsButExplanation(ScalingView other) {
    return equals(new ScalingView(other.id, other.workload, other.desired, other.replicas,
        other.current, other.ready, other.state, other.active, explanation, other.trouble,
        other.note, other.keptWarm));
  }
}
