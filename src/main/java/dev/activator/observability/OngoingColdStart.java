package dev.activator.observability;

import dev.activator.revision.StartPhase;
import java.time.Duration;
import java.util.Map;

/**
 * A start from zero that goes on.
 *
 * @param split its times are before now, so they are negative
 * @param pod its name; empty if it is not known
 * @param reason why the pod does not go on, in one word; else empty
 */
public record OngoingColdStart(ColdStartBreakdown split, String pod, String reason,
    String message) {

  /** In nanoseconds; the last phase goes on. */
  public Map<StartPhase, Long> phases(Duration awaited) {
    return split.between(-awaited.toNanos(), 0);
  }
}
