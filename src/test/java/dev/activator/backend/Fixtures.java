package dev.activator.backend;

import dev.activator.revision.LiveRevisions;
import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.backend.policy.ProbeBackoff;
import dev.activator.backend.policy.ProbePolicy;
import dev.activator.config.NetworkConfig.MeshMode;
import dev.activator.testing.Make;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.upstream.ProbeClient;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** A revision and a few of its pods. */
final class Fixtures {
  static final RevisionId REVISION = new RevisionId("test-namespace", "test-revision");
  static final Destination A = new Destination("128.0.0.1", 1234);
  static final Destination B = new Destination("128.0.0.2", 1234);
  static final Destination C = new Destination("128.0.0.3", 1234);
  static final Destination CLUSTER_IP = new Destination("129.0.0.1", 80);
  static final ProbePolicy TRAITS = traits(MeshAddressing.DEFAULT, true);

  /** Pauses are as long as they are said to be. */
  static final RandomGenerator NO_SPREAD = () -> 0;

  private Fixtures() {}

  /** Those of the product, but with as many probes as are wanted. */
  static ProbeSettings settings(Supplier<MeshAddressing> addressing) {
    return settings(addressing, 1_000_000);
  }

  static ProbeSettings settings(Supplier<MeshAddressing> addressing, int repeatsPerSecond) {
    return new ProbeSettings(addressing, Duration.ofMillis(300), Duration.ofMillis(200),
        repeatsPerSecond);
  }

  /** A manager where time is exact. */
  static RevisionBackendsManager manager(LiveRevisions live, VirtualLoop loop,
      ProbeClient client) {
    return Quiescence.watch(
        Make.backends(live, loop, client, settings(() -> MeshAddressing.DEFAULT), NO_SPREAD));
  }

  /** A watcher where time is exact. */
  static RevisionWatcher watcher(ProbePolicy traits, VirtualLoop loop, ProbeClient client,
      Consumer<HealthyDestinations> out) {
    return watcher(traits, loop, client, NO_SPREAD, 1_000_000, out);
  }

  static RevisionWatcher watcher(ProbePolicy traits, VirtualLoop loop, ProbeClient client,
      RandomGenerator random, int repeatsPerSecond, Consumer<HealthyDestinations> out) {
    var prober = new PodProber(client, loop, Revision.of(REVISION, 1), ProbeSettings.DEFAULT);
    var watcher = new RevisionWatcher(traits, loop, prober,
        new ProbeRateLimiter(loop, repeatsPerSecond), random, out);
    return Quiescence.watch(watcher, watcher::cancelled);
  }

  static ProbePolicy traits(MeshMode mesh) {
    return traits(new MeshAddressing(mesh, false), true);
  }

  static ProbePolicy traits(MeshAddressing addressing, boolean probesBeforeReady) {
    return new ProbePolicy(REVISION, addressing, probesBeforeReady, false,
        new ProbeBackoff(Duration.ofMillis(200)));
  }

  static PodsByReadiness ready(Destination... pods) {
    return new PodsByReadiness(DestinationSet.of(pods), DestinationSet.NONE);
  }

  static PodsByReadiness notReady(Destination... pods) {
    return new PodsByReadiness(DestinationSet.NONE, DestinationSet.of(pods));
  }

  static HealthyDestinations pods(Destination... pods) {
    return HealthyDestinations.pods(REVISION, DestinationSet.of(pods));
  }

  static HealthyDestinations viaClusterIp(Destination... ready) {
    return new HealthyDestinations(REVISION, CLUSTER_IP, DestinationSet.of(ready));
  }
}
