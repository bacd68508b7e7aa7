package dev.activator.revision;

import java.time.Instant;
import java.util.Map;

/**
 * How far the pods of a revision are that starts, by the status of the one that is furthest.
 *
 * <p><b>Units.</b> Times have a resolution of a second, rounded down.
 *
 * @param pod its name; empty while there is none
 * @param ends when phases ended; without those that have not
 * @param reason in one word, if it does not go on; else empty
 */
public record RevisionStartProgress(RevisionId revision, String pod, Map<StartPhase, Instant> ends,
    String reason, String message) {
  public RevisionStartProgress {
    ends = Map.copyOf(ends);
  }

  public static RevisionStartProgress none(RevisionId revision) {
    return new RevisionStartProgress(revision, "", Map.of(), "", "");
  }
}
