package dev.activator.backend.policy;

import dev.activator.backend.policy.ProbeQueue.Urgency;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A state of RevisionWatcher: what is known of one revision's pods, and how listings and probe
 * results change it. Scaled to zero is "none listed", not a state.
 *
 * <p><b>Source.</b> In Knative's {@code revision_backends.go} one check probes all pods before it
 * decides; here each answer leads to a decision.
 */
public sealed interface RevisionWatcherState
    permits RevisionProbingState, RevisionWatcherState.Stopped {

  /** Ignores answers that still arrive. */
  record Stopped() implements RevisionWatcherState {}

  sealed interface Event {}

  record Listed(PodsByReadiness pods) implements Event {}

  record Addressed(@Nullable Destination clusterIp) implements Event {}

  /** Answers that are judged together, in order. */
  record Answered(List<Answer> answers) implements Event {
    public Answered {
      answers = List.copyOf(answers);
    }
  }

  record Answer(Destination from, PodHealthVerdict outcome, Duration took) {}

  /** The pause after a failed probe is over. */
  record Due(Destination destination) implements Event {}

  /** A request could not be delivered there. */
  record Suspected(Destination destination) implements Event {}

  /** A request cannot run at once. Repeated at least each second while requests wait. */
  record Awaited() implements Event {}

  /** Whether a watch reports changes of Endpoints; without one, those that are known may be stale. */
  record WatchChanged(boolean open) implements Event {}

  /** The Endpoints or the Revision were deleted. */
  record Deleted() implements Event {}

  /** Ends the watcher without a publication. */
  record Cancelled() implements Event {}

  sealed interface Effect {}

  record Publish(HealthyDestinations destinations) implements Effect {}

  /** Probe as soon as the queue allows. Ends a pause of the address. */
  record ProbeNow(Destination destination, Urgency urgency) implements Effect {}

  /** Send the probes that the queue has not let through because no request waited. */
  record Hurry() implements Effect {}

  /** Raise {@link Due} after the pause. */
  record ProbeLater(Destination destination, Duration pause) implements Effect {}

  /** @param effects in the order to perform them */
  record Step(RevisionWatcherState next, List<Effect> effects) {
    static Step to(RevisionWatcherState next, Effect... effects) {
      return new Step(next, List.of(effects));
    }
  }

  static RevisionWatcherState of(ProbePolicy traits) {
    return RevisionProbingState.of(traits);
  }

  /** @param now since some origin; never goes back */
  default Step on(Event event, Duration now) {
    if (!(this instanceof RevisionProbingState before)) {
      return Step.to(this);
    }
    var watching = before.at(now);
    return switch (event) {
      case Listed(var pods) -> watching.relist(pods);
      case Addressed(var clusterIp) -> watching.moveClusterIp(clusterIp);
      case Answered(var answers) -> watching.judge(answers);
      case Due(var destination) -> watching.wake(destination);
      case Suspected(var destination) -> watching.suspect(destination);
      case Awaited() -> watching.await();
      case WatchChanged(var open) -> watching.watch(open);
      case Deleted() -> watching.delete();
      case Cancelled() -> Step.to(new Stopped());
    };
  }
}
