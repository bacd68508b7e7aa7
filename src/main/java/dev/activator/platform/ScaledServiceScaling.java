package dev.activator.platform;

import dev.activator.autoscaler.Autoscaler;
import dev.activator.autoscaler.ScalingListener;
import dev.activator.autoscaler.ScalingView;
import dev.activator.cluster.Cluster;
import dev.activator.cluster.ScaledServiceWriter;
import dev.activator.cluster.policy.ScaledServiceState;
import dev.activator.cluster.policy.ScaledServiceState.Trouble;
import dev.activator.cluster.policy.ScaledServiceStatus.Scaling;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The adapter between ScaledServices and the autoscaler: passes changes to it, and its decisions
 * to the writer of statuses.
 */
public final class ScaledServiceScaling implements ScalingListener {
  private volatile @Nullable ScaledServiceWriter writer;
  /** What each ScaledService scales; only on the cluster's loop. */
  private final Map<RevisionId, ScaleTargetRef> workloads = new HashMap<>();

  /** Call before the cluster starts. */
  void follow(Cluster cluster, Autoscaler autoscaler, ScaledServiceWriter to) {
    writer = to;
    cluster.onScaledService(state -> {
      to.changed(state);
      scale(state, autoscaler);
    });
    cluster.onScaledServiceGone(id -> {
      targetGone(id, autoscaler);
      to.gone(id);
    });
  }

  private void targetGone(RevisionId id, Autoscaler autoscaler) {
    var workload = workloads.remove(id);
    if (workload != null) {
      // A Knative revision may have the same name, and stays.
      autoscaler.targetGone(id, workload);
    }
  }

  private void scale(ScaledServiceState state, Autoscaler autoscaler) {
    var target = state.target();
    if (target == null) {
      targetGone(state.object().id(), autoscaler);
    } else {
      workloads.put(target.id(), target.workload());
      autoscaler.target(target);
      autoscaler.pods(target.id(), state.ready());
    }
  }

  /** Once it follows. */
  ScaledServiceWriter writer() {
    return Objects.requireNonNull(writer);
  }

  @Override
  public void changed(ScalingView view) {
    writer().scaled(view.id(), scaling(view));
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
    writer().happened(id, warning, reason, message);
  }
}
