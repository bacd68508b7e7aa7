package dev.activator.console;

import dev.activator.console.Diagnosis.State;
import dev.activator.console.RevisionReport.LinkReport;
import dev.activator.stats.AutoscalerLink;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All revisions for which requests wait, as JSON.
 *
 * @param waiting the longest wait first; at most a hundred
 * @param leader which activator scales; null where none is elected
 */
public record Overview(String summary, int revisions, int queued, List<Waiting> waiting,
    LinkReport autoscaler, ApiState kubernetes, @Nullable LeaderReport leader) {
  private static final int MAX_WAITING = 100;

  public record Waiting(String revision, State state, int queued, double oldestWaitSeconds,
      String summary, String whatToDo) {
    private static Waiting of(RevisionSnapshot now) {
      var diagnosis = Diagnosis.of(now);
      return new Waiting(now.revision().toString(), diagnosis.state(), now.queued(),
          RevisionReport.seconds(now.queue().now().oldestWait()), diagnosis.summary(),
          diagnosis.state().whatToDo());
    }
  }

  static Overview of(int revisions, List<RevisionSnapshot> found, AutoscalerLink.View link,
      ApiState api, @Nullable LeaderReport leader) {
    int queued = found.stream().mapToInt(RevisionSnapshot::queued).sum();
    var waiting = found.stream()
        .sorted(Comparator.comparing(one -> one.queue().now().oldestWait().negated()))
        .limit(MAX_WAITING)
        .map(Waiting::of).toList();
    return new Overview(summary(queued, found.size(), link, api, leader), revisions, queued,
        waiting,
        LinkReport.of(link), api, leader);
  }

  private static String summary(int queued, int revisions, AutoscalerLink.View link,
      ApiState api, @Nullable LeaderReport leader) {
    var text = new StringBuilder(Diagnosis.waiting(queued));
    if (queued > 0) {
      text.append(" for ").append(revisions).append(revisions == 1 ? " revision" : " revisions");
    }
    text.append("; ").append(Diagnosis.link(RevisionSnapshot.problem(link)));
    if (leader != null) {
      text.append("; ").append(leader.summary());
    }
    if (!api.synced()) {
      text.append("; not everything was heard yet of what the Kubernetes API has");
    } else if (!api.problems().isEmpty()) {
      text.append("; news from the Kubernetes API may be missing: ")
          .append(String.join("; ", api.problems()));
    }
    return text.append('.').toString();
  }
}
