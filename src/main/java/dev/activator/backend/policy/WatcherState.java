package dev.activator.backend.policy;

import dev.activator.backend.policy.ProbeQueue.Urgency;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Listing;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of a {@code RevisionWatcher}: what is known of one revision's pods, and the effects
 * of each event. Scaled to zero is "none listed", not a state of its own.
 *
 * <p>
 * <b>Source.</b> {@code revision_backends.go} of Knative Serving, where one check probes all pods
 * and then decides. Here each pod has its own probes, and each answer leads to a decision.
 */
public sealed interface WatcherState permits Watching, WatcherState.Stopped {

  /** The watcher has ended. Answers still on their way are ignored. */
  record Stopped() implements WatcherState {}

  /** What can happen to a watcher. */
  sealed interface Event {}

  /** Kubernetes lists these pods now; none means scaled to zero. */
  record Listed(Listing pods) implements Event {}

  /** The private Service has this address now; null when it has none. */
  record Addressed(@Nullable Destination clusterIp) implements Event {}

  /** Probes ended, one after the other, and are judged together. */
  record Answered(List<Answer> answers) implements Event {
    public Answered {
      answers = List.copyOf(answers);
    }
  }

  /** The outcome of one probe, and the time since it was sent. */
  record Answer(Destination from, ProbeOutcome outcome, Duration took) {}

  /** The pause after a failed probe is over. */
  record Due(Destination destination) implements Event {}

  /** A request could not be delivered there. */
  record Suspected(Destination destination) implements Event {}

  /** The Endpoints or the Revision are gone. */
  record Deleted() implements Event {}

  /** The watcher ends, and publishes nothing any more. */
  record Cancelled() implements Event {}

  /** An action that a step asks for. */
  sealed interface Effect {}

  /** Publish where requests can go now. */
  record Publish(HealthyDestinations destinations) implements Effect {}

  /** Probe as soon as the rate allows; a pause that still runs for the address is over. */
  record ProbeNow(Destination destination, Urgency urgency) implements Effect {}

  /** Raise {@link Due} after the pause. */
  record ProbeLater(Destination destination, Duration pause) implements Effect {}

  /** The next state, and what the caller must do, in this order. */
  record Step(WatcherState next, List<Effect> effects) {
    static Step to(WatcherState next, Effect... effects) {
      return new Step(next, List.of(effects));
    }
  }

  /** The initial state: nothing is known, nothing was published. */
  static WatcherState of(ProbeTraits traits) {
    return Watching.of(traits);
  }

  /**
   * The transition for an event.
   *
   * @param now since some origin; never goes back
   */
  default Step on(Event event, Duration now) {
    if (!(this instanceof Watching before)) {
      return Step.to(this);
    }
    var watching = before.at(now);
    return switch (event) {
      case Listed(var pods) -> watching.relist(pods);
      case Addressed(var clusterIp) -> watching.moveClusterIp(clusterIp);
      case Answered(var answers) -> watching.judge(answers);
      case Due(var destination) -> watching.wake(destination);
      case Suspected(var destination) -> watching.suspect(destination);
      case Deleted() -> watching.delete();
      case Cancelled() -> Step.to(new Stopped());
    };
  }
}
