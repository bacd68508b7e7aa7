package dev.activator.app;

import dev.activator.autoscaler.LeaderElection;
import dev.activator.autoscaler.ScalingView;
import dev.activator.console.RevisionFacts.Setting;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the console shows of the autoscaler in this process, or in the activator that is elected.
 *
 * @param views how this process scales a revision; null if it does not
 * @param leader null where none is elected
 */
record ScalingFacts(Function<RevisionId, @Nullable ScalingView> views,
    Supplier<@Nullable Leader> leader) {

  /**
   * @param pod empty if nobody is elected
   * @param problem of the Lease; may be empty
   */
  record Leader(boolean isThis, String pod, String problem) {
    static Leader of(LeaderElection.View election) {
      var holder = election.holder();
      int address = holder.lastIndexOf('_');
      return new Leader(election.leads(), address < 0 ? holder : holder.substring(0, address),
          election.problem());
    }

    private Setting row() {
      return new Setting("scaled by",
          isThis ? "this activator" : pod.isEmpty() ? "nobody" : pod,
          problem.isEmpty() ? "the Lease" : "the Lease, which cannot be used: " + problem);
    }
  }

  /** @param scaled null for a Revision */
  List<Setting> rows(RevisionId id, @Nullable ScaledServiceFacts scaled) {
    var rows = new ArrayList<Setting>();
    var view = views.apply(id);
    if (view != null) {
      rows.add(wanted(view.desired(), view.explanation()));
      if (view.trouble() != null) {
        rows.add(new Setting("scaling", view.trouble().reason(), view.trouble().message()));
      }
    } else if (scaled != null) {
      rows.add(wanted(scaled.state().object().status().desiredReplicas(),
          "the status; the activator that scales it knows why"));
    }
    var elected = scaled == null ? null : leader.get();
    if (elected != null) {
      rows.add(elected.row());
    }
    if (scaled != null) {
      rows.addAll(scaled.conditions());
    }
    return rows;
  }

  private static Setting wanted(OptionalInt pods, String why) {
    return new Setting("pods wanted",
        pods.isPresent() ? "" + pods.getAsInt() : "not decided yet", why);
  }
}
