package dev.activator.app;

import dev.activator.autoscaler.Autoscaler;
import dev.activator.autoscaler.ScalingListener;
import dev.activator.autoscaler.ScalingView;
import dev.activator.cluster.Cluster;
import dev.activator.cluster.ScaledServiceWriter;
import dev.activator.cluster.policy.ScaledServiceState;
import dev.activator.cluster.policy.ScaledServiceState.Trouble;
import dev.activator.cluster.policy.ScaledServiceStatus;
import dev.activator.cluster.policy.ScaledServiceStatus.Scaling;
import dev.activator.console.RevisionReport.ScalingReport;
import dev.activator.revision.RevisionId;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Tells the autoscaler of ScaledServices, and has its decisions written into them. */
final class ScaledServiceController implements ScalingListener {
  private final Map<RevisionId, ScaledServiceState> states = new ConcurrentHashMap<>();
  private volatile @Nullable ScaledServiceWriter writer;

  /** Call before the cluster starts. */
  void follow(Cluster cluster, Autoscaler autoscaler, ScaledServiceWriter to) {
    writer = to;
    cluster.onScaledService(state -> {
      states.put(state.object().id(), state);
      to.changed(state);
      scale(state, autoscaler);
    });
    cluster.onScaledServiceGone(id -> {
      states.remove(id);
      autoscaler.targetGone(id);
      to.gone(id);
    });
  }

  private static void scale(ScaledServiceState state, Autoscaler autoscaler) {
    var target = state.target();
    if (target == null) {
      autoscaler.targetGone(state.object().id());
    } else {
      autoscaler.target(target);
      autoscaler.pods(target.id(), state.ready());
    }
  }

  void start() {
    Objects.requireNonNull(writer).start();
  }

  /** Writes what was decided last; done when it is written. */
  CompletableFuture<Void> finish() {
    return Objects.requireNonNull(writer).finish();
  }

  void stop() {
    Objects.requireNonNull(writer).stop();
  }

  /**
   * How it is scaled: as this activator decides, or else as its status says.
   *
   * @param leader the pod of the activator that scales; empty if it is not known
   * @return null if it is not scaled, or not known
   */
  @Nullable ScalingReport report(RevisionId id, Autoscaler autoscaler, String leader) {
    var view = autoscaler.views().get(id);
    var state = states.get(id);
    return view != null ? decided(view) : state == null ? null : written(state, leader);
  }

  private static ScalingReport decided(ScalingView view) {
    var trouble = view.trouble();
    return new ScalingReport(orNull(view.desired()), orNull(view.replicas()), view.ready(),
        view.active().state().name(), view.explanation(),
        trouble == null ? null : trouble.message(), view.note());
  }

  static ScalingReport written(ScaledServiceState state, String leader) {
    var status = state.object().status();
    var active = status.condition(ScaledServiceStatus.ACTIVE);
    var ready = status.condition(ScaledServiceStatus.READY);
    boolean isReady = ready == null || !ready.status().equals("False");
    var says = ready == null ? "" : ready.message();
    return new ScalingReport(orNull(status.desiredReplicas()), orNull(status.replicas()),
        state.ready(), active == null ? "UNKNOWN" : active.status().toUpperCase(Locale.ROOT),
        explanation(state, active == null ? "" : active.message(), leader),
        isReady ? null : says, isReady ? says : "");
  }

  private static String explanation(ScaledServiceState state, String active, String leader) {
    var object = state.object();
    var who = leader.isEmpty()
        ? "no activator is known to scale it now"
        : leader + " scales it";
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

  @Override
  public void changed(ScalingView view) {
    var to = writer;
    if (to != null) {
      to.scaled(view.id(), scaling(view));
    }
  }

  static Scaling scaling(ScalingView view) {
    var trouble = view.trouble();
    var state = view.active().state().name();
    return new Scaling(view.current(), view.desired(),
        state.charAt(0) + state.substring(1).toLowerCase(Locale.ROOT), view.active().reason(),
        view.active().message(),
        trouble == null ? null : new Trouble(trouble.reason(), trouble.message()), view.note());
  }

  @Override
  public void happened(RevisionId id, boolean warning, String reason, String message) {
    var to = writer;
    if (to != null) {
      to.happened(id, warning, reason, message);
    }
  }
}
