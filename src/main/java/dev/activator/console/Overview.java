package dev.activator.console;

import dev.activator.console.RevisionReport.LinkReport;
import dev.activator.console.policy.State;
import java.util.List;

/**
 * All revisions for which requests wait, as JSON.
 *
 * @param summary in a sentence
 * @param revisions how many are known
 * @param queued requests that wait, for all of them together
 * @param waiting for what, those first whose first request has waited longest; at most
 *     {@link #LONGEST}
 * @param autoscaler the link to it
 * @param kubernetes how the API is heard
 */
public record Overview(String summary, int revisions, int queued, List<Waiting> waiting,
    LinkReport autoscaler, ApiState kubernetes) {
  static final int LONGEST = 100;

  /** One revision for which requests wait. */
  public record Waiting(String revision, State state, int queued, double oldestWaitSeconds,
      String summary) {}
}
