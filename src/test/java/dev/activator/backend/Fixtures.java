package dev.activator.backend;

import dev.activator.backend.policy.Addressing;
import dev.activator.backend.policy.Pauses;
import dev.activator.backend.policy.Traits;
import dev.activator.config.MeshMode;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Listing;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** A revision and a few of its pods. */
final class Fixtures {
  static final RevisionId REVISION = new RevisionId("test-namespace", "test-revision");
  static final Destination A = new Destination("128.0.0.1", 1234);
  static final Destination B = new Destination("128.0.0.2", 1234);
  static final Destination C = new Destination("128.0.0.3", 1234);
  static final Destination CLUSTER_IP = new Destination("129.0.0.1", 80);
  static final Traits TRAITS = traits(Addressing.DEFAULT, true);

  /** Pauses are as long as they are said to be. */
  private static final RandomGenerator NO_SPREAD = () -> 0;

  private Fixtures() {}

  /** What watchers share where time is exact, and as many probes as anybody wants. */
  static Shared shared(Loop loop) {
    return shared(loop, NO_SPREAD, 1_000_000);
  }

  static Shared shared(Loop loop, RandomGenerator random, int repeatsPerSecond) {
    return Shared.of(new ProbeTurns(loop, repeatsPerSecond), random);
  }

  static Traits traits(MeshMode mesh) {
    return traits(new Addressing(mesh, false), true);
  }

  static Traits traits(Addressing addressing, boolean probesBeforeReady) {
    return new Traits(REVISION, addressing, probesBeforeReady,
        new Pauses(Duration.ofMillis(200)));
  }

  static Listing ready(Destination... pods) {
    return new Listing(Destinations.of(pods), Destinations.NONE);
  }

  static Listing notReady(Destination... pods) {
    return new Listing(Destinations.NONE, Destinations.of(pods));
  }

  static HealthyDestinations pods(Destination... pods) {
    return HealthyDestinations.pods(REVISION, Destinations.of(pods));
  }

  static HealthyDestinations viaClusterIp(Destination... ready) {
    return new HealthyDestinations(REVISION, CLUSTER_IP, Destinations.of(ready));
  }
}
