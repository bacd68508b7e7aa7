package dev.activator.ext.console;

import dev.activator.kube.LeadershipStatus;
import dev.activator.revision.ScalingView;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.ScaledServiceStatus;
import dev.activator.platform.RevisionDetailsSource.Setting;
import dev.activator.ext.console.RevisionWaitReport.ScalingReport;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
   * @param state null for a Revision
   */
  public @Nullable ScalingReport report(RevisionId id, @Nullable ResolvedScaledService state) {
    var view = views.apply(id);
    return view != null ? decided(view) : state == null ? null : written(state);
  }

  private static ScalingReport decided(ScalingView view) {
    var trouble = view.trouble();
    return new ScalingReport(orNull(view.desired()), orNull(view.replicas()), view.ready(),
        view.active().state().name(), view.explanation(),
        trouble == null ? null : trouble.message(),
        view.keptWarm() == null
            ? view.note()
            : view.note() + (view.note().isEmpty() ? "" : "; ") + view.keptWarm().sentence());
  }

  private ScalingReport written(ResolvedScaledService state) {
    var status = state.object().status();
    var active = status.condition(ScaledServiceStatus.ACTIVE);
    var ready = status.condition(ScaledServiceStatus.READY);
    boolean isReady = ready == null || !ready.status().equals("False");
    var says = ready == null ? "" : ready.message();
    return new ScalingReport(orNull(status.desiredReplicas()), orNull(status.replicas()),
        state.ready(), active == null ? "UNKNOWN" : active.status().toUpperCase(Locale.ROOT),
        explanation(state, active == null ? "" : active.message()), isReady ? null : says,
        isReady ? says : "");
  }

  private String explanation(ResolvedScaledService state, String active) {
    var object = state.object();
    var elected = leader.get();
    var who = elected == null || elected.pod().isEmpty()
        ? "no activator is known to scale it now"
        : elected.pod() + " scales it";
    var written = object.status().conditions().isEmpty()
        ? "nothing is written in the status of the ScaledService yet"
        : "this is what the status of the ScaledService says"
            + (object.status().observedGeneration() == object.generation()
                ? ""
                : ", about an older spec")
            + (active.isEmpty() ? "" : ": " + active);
    return who + "; " + written;
  }

  private static @Nullable Integer orNull(OptionalInt number) {
    return number.isPresent() ? number.getAsInt() : null;
  }

  private static Setting row(LeadershipStatus leader) {
    return new Setting("scaled by",
        leader.here() ? "this activator" : leader.pod().isEmpty() ? "no activator" : leader.pod(),
        leader.problem().isEmpty()
            ? "the Lease"
            : "the Lease, which cannot be used: " + leader.problem());
  }

  /** @param scaled null for a Revision */
  List<Setting> rows(RevisionId id, @Nullable ScaledServiceDetails scaled) {
    var rows = new ArrayList<Setting>();
    var view = views.apply(id);
    if (view != null) {
      rows.add(podsRow(view.desired(), view.explanation()));
      if (view.keptWarm() != null) {
        rows.add(new Setting("kept warm", view.keptWarm().sentence(), "spec.keepWarm"));
      }
      if (view.trouble() != null) {
        rows.add(new Setting("scaling", view.trouble().reason(), view.trouble().message()));
      }
    } else if (scaled != null) {
      rows.add(podsRow(scaled.state().object().status().desiredReplicas(),
          "the status; the activator that scales it knows why"));
    }
    var elected = scaled == null ? null : leader.get();
    if (elected != null) {
      rows.add(row(elected));
    }
    if (scaled != null) {
      rows.addAll(scaled.conditions());
    }
    return rows;
  }

  private static Setting podsRow(OptionalInt pods, String why) {
    return new Setting("pods wanted",
        pods.isPresent() ? "" + pods.getAsInt() : "not decided yet", why);
  }
}
