package dev.activator.platform;

import dev.activator.revision.ScalingView.ScaleState;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A report of how a revision is scaled, for JSON: the decision of this process, or the status that
 * the leader wrote.
 *
 * @param desired null before the first decision
 * @param replicas the replicas of the workload, as last read or counted; null before
 * @param state whether it runs, in one word, such as {@code waking}; empty if unknown
 * @param active {@code TRUE}, {@code FALSE} or {@code UNKNOWN}
 * @param explanation a sentence that explains {@code desired}
 * @param trouble why it cannot be scaled; null if it can
 * @param note a remark, for example which other client has set the scale; may be empty
 */
public record ScalingReport(@Nullable Integer desired, @Nullable Integer replicas, int ready,
    String state, String active, String explanation, @Nullable String trouble, String note) {
  /** A sentence on why requests start nothing yet, or why it stops; empty if neither is so. */
  public String conflict() {
    return state.equals(ScaleState.WAITING.text()) || state.equals(ScaleState.STOPPING.text())
        ? note
        : "";
  }

  public static @Nullable Integer orNull(OptionalInt number) {
    return number.isPresent() ? number.getAsInt() : null;
  }
}
