package dev.activator.ext.console;

import dev.activator.kube.LeadershipStatus;
import dev.activator.revision.ScalingView;
import dev.activator.platform.ScalingReport;
import dev.activator.platform.WorkloadDetails;
import dev.activator.platform.RevisionDetailsSource.Setting;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Explains, for the console's pages and JSON, how a revision is scaled, and which activator scales
 * it.
 *
 * @param views returns how this process scales a revision; null if it does not
 * @param leader returns null if no leader is elected in this mode
 */
public record ScalingExplanationBuilder(Function<RevisionId, @Nullable ScalingView> views,
    Supplier<@Nullable LeadershipStatus> leader) {

  /**
   * The report for JSON: the decision of this activator, or else that of the status.
   *
   * @param workload null for a Knative Revision
   */
  public @Nullable ScalingReport report(RevisionId id, @Nullable WorkloadDetails workload) {
    var view = views.apply(id);
    return view != null ? decided(view) : workload == null ? null : workload.report(leader.get());
  }

  private static ScalingReport decided(ScalingView view) {
    var trouble = view.trouble();
    return new ScalingReport(ScalingReport.orNull(view.desired()),
        ScalingReport.orNull(view.replicas()), view.ready(),
        view.state() == null ? "" : view.state().text(),
        view.active().state().name(), view.explanation(),
        trouble == null ? null : trouble.message(),
        view.keptWarm() == null
            ? view.note()
            : view.note() + (view.note().isEmpty() ? "" : "; ") + view.keptWarm().sentence());
  }

  private static Setting row(LeadershipStatus leader) {
    return new Setting("scaled by",
        leader.here() ? "this activator" : leader.pod().isEmpty() ? "no activator" : leader.pod(),
        leader.problem().isEmpty()
            ? "the Lease"
            : "the Lease, which cannot be used: " + leader.problem());
  }

  /** @param workload null for a Knative Revision */
  public List<Setting> rows(RevisionId id, @Nullable WorkloadDetails workload) {
    var rows = new ArrayList<Setting>();
    var view = views.apply(id);
    if (view != null) {
      rows.add(podsRow(view.desired(), view.explanation()));
      if (view.state() != null) {
        rows.add(new Setting("state", view.state().text(), view.note()));
      }
      if (view.keptWarm() != null) {
        rows.add(new Setting("kept warm", view.keptWarm().sentence(), "spec.keepWarm"));
      }
      if (view.trouble() != null) {
        rows.add(new Setting("scaling", view.trouble().reason(), view.trouble().message()));
      }
    } else if (workload != null) {
      rows.add(podsRow(workload.desiredReplicas(),
          "the status; the activator that scales it knows why"));
      if (!workload.scaleState().isEmpty()) {
        rows.add(new Setting("state", workload.scaleState(), "the status"));
      }
    }
    var elected = workload == null ? null : leader.get();
    if (elected != null) {
      rows.add(row(elected));
    }
    if (workload != null) {
      rows.addAll(workload.conditions());
    }
    return rows;
  }

  private static Setting podsRow(OptionalInt pods, String why) {
    return new Setting("pods wanted",
        pods.isPresent() ? "" + pods.getAsInt() : "not decided yet", why);
  }
}
