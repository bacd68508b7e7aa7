package dev.activator.backend.policy;

import dev.activator.revision.Destination;
import dev.activator.revision.Listing;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What can happen to a watcher. */
public sealed interface WatcherEvent {
  /** Kubernetes lists these pods now; none means scaled to zero. */
  record Listed(Listing pods) implements WatcherEvent {}

  /** The private Service has this address now; null when it has none. */
  record Addressed(@Nullable Destination clusterIp) implements WatcherEvent {}

  /** A probe came to its end, so long after it was sent. */
  record Answered(ProbeTarget target, ProbeOutcome outcome, Duration took)
      implements WatcherEvent {}

  /** Probes of pods came to their end, one after the other, and are judged together. */
  record PodsAnswered(List<PodAnswer> answers) implements WatcherEvent {
    public PodsAnswered {
      answers = List.copyOf(answers);
    }
  }

  /** What the probe of one pod came to, so long after it was sent. */
  record PodAnswer(Destination pod, ProbeOutcome outcome, Duration took) {}

  /** The pause after a failed probe is over. */
  record Due(ProbeTarget target) implements WatcherEvent {}

  /** A request could not be delivered there, whatever the last probe said. */
  record Suspected(Destination destination) implements WatcherEvent {}

  /** The revision is gone. */
  record Deleted() implements WatcherEvent {}

  /** Nobody listens any more. */
  record Cancelled() implements WatcherEvent {}
}
