package dev.activator.observability;

import dev.activator.revision.StartPhase;
import java.time.Duration;
import java.util.Map;

/** A start from zero that is in progress. */
public interface OngoingColdStart {
  /** The phase in progress. */
  StartPhase current();

  /** Whether the status of pods is read. */
  boolean podsRead();

  /** The durations of the phases in nanoseconds; the last phase is in progress. */
  Map<StartPhase, Long> phases(Duration awaited);

  /** The name of the pod; empty if unknown. */
  String pod();

  /** Why the pod makes no progress, in one word; otherwise empty. */
  String reason();

  String message();
}
