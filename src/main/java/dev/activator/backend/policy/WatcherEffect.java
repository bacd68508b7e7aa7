package dev.activator.backend.policy;

import dev.activator.revision.HealthyDestinations;
import java.time.Duration;

/** What a watcher is to do, once. */
public sealed interface WatcherEffect {
  /** Say where requests can go now. */
  record Publish(HealthyDestinations destinations) implements WatcherEffect {}

  /** Probe now; a pause that still runs for this target is over. */
  record Probe(ProbeTarget target, Urgency urgency) implements WatcherEffect {}

  /** Say {@link WatcherEvent.Due} after the pause. */
  record ProbeLater(ProbeTarget target, Duration pause) implements WatcherEffect {}
}
