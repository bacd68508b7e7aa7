package dev.activator.ext.console;

import dev.activator.backend.RevisionBackendsView;
import dev.activator.backend.RevisionBackendsView.Address;
import dev.activator.backend.RevisionBackendsView.Probe;
import dev.activator.backend.policy.ProbePolicy;
import dev.activator.config.NetworkConfig.MeshMode;
import dev.activator.ext.console.WaitState.Kind;
import dev.activator.ext.console.WaitingOverview.ApiState;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.ThrottleView;
import dev.activator.throttle.ThrottleView.SharedPermitsView;
import dev.activator.throttle.policy.DestinationSubset.ActivatorIndex;
import dev.activator.throttle.policy.WaitLimits;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Diagnoses of revisions whose pods all serve, for tests of other packages. */
public final class Diagnoses {
  private Diagnoses() {}

  public static WaitDiagnosis of(ThrottleView.Details queue, Collection<Destination> pods) {
    return WaitDiagnosis.of(snapshot(queue, pods));
  }

  public static String forCallers(ThrottleView.Details queue, Collection<Destination> pods) {
    return CallerReason.of(snapshot(queue, pods));
  }

  private static RevisionSnapshot snapshot(ThrottleView.Details queue,
      Collection<Destination> pods) {
    var id = queue.now().revision();
    var addresses = pods.stream().map(pod -> new Address(pod, true, true, true, false, 0,
        new Probe("answers", Duration.ofMillis(5), null, false))).toList();
    return new RevisionSnapshot(id, Kind.REVISION,
        new RevisionBackendsView(
            HealthyDestinations.pods(id, DestinationSet.of(pods)), addresses, null,
            new ProbePolicy.MeshAddressing(MeshMode.AUTO, false), true),
        queue, new AutoscalerLink.View("ws://autoscaler", true, Duration.ZERO, 0, null),
        new ApiState(true, List.of()), LocalProcessProblems.NONE, "", null);
  }

  /** A revision without pods, for which requests wait. */
  static RevisionSnapshot waiting(RevisionId id, int queued) {
    return new RevisionSnapshot(id, Kind.REVISION, null, new ThrottleView.Details(
        new ThrottleView(id, 0, 0, 0, queued, Duration.ZERO, false, List.of()), 0,
        new ThrottleView.Queue(100, 0, WaitLimits.NONE, List.of(), Map.of(),
            new ThrottleView.Bound(Map.of(), 0), null),
        new ThrottleView.Start(null, Duration.ZERO, null), ActivatorIndex.UNKNOWN, List.of(), null,
        SharedPermitsView.ALONE),
        new AutoscalerLink.View("ws://autoscaler", true, Duration.ZERO, 0, null),
        new ApiState(true, List.of()), LocalProcessProblems.NONE, "", null);
  }
}
