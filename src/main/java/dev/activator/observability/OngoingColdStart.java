package dev.activator.observability;

import dev.activator.revision.StartPhase;
import java.time.Duration;
import java.util.Map;

/**
 * A start from zero that is in progress.
 *
 * @param split its phases; their times are before now, so they are negative
 * @param pod the name of the pod; empty if unknown
 * @param reason why the pod makes no progress, in one word; otherwise empty
 */
public record OngoingColdStart(ColdStartBreakdown split, String pod, String reason,
    String message) {

  /** The durations of the phases in nanoseconds; the last phase is in progress. */
  public Map<StartPhase, Long> phases(Duration awaited) {
    return split.between(-awaited.toNanos(), 0);
  }
}
