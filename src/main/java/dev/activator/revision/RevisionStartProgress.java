package dev.activator.revision;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * The progress of a revision's start: the phases that its most advanced pod has completed.
 *
 * <p><b>Units.</b> Times have a resolution of a second, rounded down.
 *
 * @param pod the pod's name; empty while there is no pod
 * @param ends when each phase ended; a phase that has not ended has no entry
 * @param reason one word for why the pod does not progress; empty if it does
 * @param node how long pods usually wait for a node like the one that is added for this revision;
 *     zero if none is
 */
public record RevisionStartProgress(RevisionId revision, String pod, Map<StartPhase, Instant> ends,
    String reason, String message, Duration node) {
  public RevisionStartProgress {
    ends = Map.copyOf(ends);
  }

  /** Whether the scheduler has found no node for the pod. */
  public boolean isUnscheduled() {
    return !reason.isEmpty() && ends.containsKey(StartPhase.CREATE)
        && !ends.containsKey(StartPhase.SCHEDULE);
  }

  public static RevisionStartProgress none(RevisionId revision) {
    return new RevisionStartProgress(revision, "", Map.of(), "", "", Duration.ZERO);
  }
}
