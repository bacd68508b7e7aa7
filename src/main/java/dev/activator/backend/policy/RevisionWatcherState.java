package dev.activator.backend.policy;

import dev.activator.backend.policy.ProbeQueue.Urgency;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A state of {@code RevisionWatcher}: what is known of a revision's pods, and how listings and
 * results of probes change that. There is no state for a revision that is scaled to zero; no pods
 * are listed then.
 *
 * <p><b>Source.</b> In Knative's {@code revision_backends.go} a check probes all pods before it
 * decides; here each answer leads to a decision.
 */
public sealed interface RevisionWatcherState
    permits RevisionProbingState, RevisionWatcherState.Stopped {

  /** The final state. It ignores answers that still arrive. */
  record Stopped() implements RevisionWatcherState {}

  sealed interface Event {}

  record Listed(PodsByReadiness pods) implements Event {}

  record Addressed(@Nullable Destination clusterIp) implements Event {}

  /** Probes that are handled together, in the order in which they ended. */
  record Probed(List<EndedProbe> probes) implements Event {
    public Probed {
      probes = List.copyOf(probes);
    }
  }

  /** @param from the address that was probed */
  record EndedProbe(Destination from, ProbeVerdict verdict, Duration took) {}

  /** The pause of an address after a failed probe is over. */
  record Due(Destination destination) implements Event {}

  /** A request could not be delivered to this destination. */
  record Unreachable(Destination destination) implements Event {}

  /** A request cannot run at once. Repeated at least each second while requests wait. */
  record RequestWaits() implements Event {}

  /** A watch of Endpoints was opened or closed. Without one, the known Endpoints may be stale. */
  record WatchChanged(boolean open) implements Event {}

  /** The Revision or its Endpoints are gone, or another watcher takes the place of this one. */
  record Ended() implements Event {}

  /** Ends the watcher without a publication. */
  record Cancelled() implements Event {}

  sealed interface Effect {}

  record Publish(HealthyDestinations destinations) implements Effect {}

  /** Sends a probe as soon as the queue allows, and ends a pause of the address. */
  record ProbeNow(Destination destination, Urgency urgency) implements Effect {}

  /** Sends the probes that the queue delays because no request waited. */
  record Hurry() implements Effect {}

  /** Raises {@link Due} after the pause. */
  record ProbeLater(Destination destination, Duration pause) implements Effect {}

  /** @param effects in the order to perform them */
  record Step(RevisionWatcherState next, List<Effect> effects) {
    static Step to(RevisionWatcherState next, Effect... effects) {
      return new Step(next, List.of(effects));
    }
  }

  static RevisionWatcherState of(ProbePolicy policy) {
    return RevisionProbingState.of(policy);
  }

  /** @param now since a fixed origin; never decreases */
  default Step on(Event event, Duration now) {
    if (!(this instanceof RevisionProbingState before)) {
      return Step.to(this);
    }
    var watching = before.at(now);
    return switch (event) {
      case Listed(var pods) -> watching.relist(pods);
      case Addressed(var clusterIp) -> watching.moveClusterIp(clusterIp);
      case Probed(var probes) -> watching.judge(probes);
      case Due(var destination) -> watching.wake(destination);
      case Unreachable(var destination) -> watching.unreachable(destination);
      case RequestWaits() -> watching.requestWaits();
      case WatchChanged(var open) -> watching.watch(open);
      case Ended() -> watching.delete();
      case Cancelled() -> Step.to(new Stopped());
    };
  }
}
