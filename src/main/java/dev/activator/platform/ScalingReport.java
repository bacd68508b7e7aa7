package dev.activator.platform;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A report of how a revision is scaled, for JSON: the decision of this process, or the status that
 * the leader wrote.
 *
 * @param desired null before the first decision
 * @param replicas the replicas of the workload, as last read or counted; null before
 * @param active {@code TRUE}, {@code FALSE} or {@code UNKNOWN}
 * @param explanation a sentence that explains {@code desired}
 * @param trouble why it cannot be scaled; null if it can
 * @param note a remark, for example which other client has set the scale; may be empty
 */
public record ScalingReport(@Nullable Integer desired, @Nullable Integer replicas, int ready,
    String active, String explanation, @Nullable String trouble, String note) {
  public static @Nullable Integer orNull(OptionalInt number) {
    return number.isPresent() ? number.getAsInt() : null;
  }
}
