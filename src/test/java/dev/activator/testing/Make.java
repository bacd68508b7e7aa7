package dev.activator.testing;

import dev.activator.backend.ProbeSettings;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.kube.ClusterAccess;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.discovery.PodAddressPreference;
import dev.activator.kube.policy.KubernetesVersion;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.throttle.PermitSharing;
import dev.activator.loop.Loop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.config.NamespaceHostRules;
import dev.activator.revision.LiveRevisions;
import dev.activator.standalone.ScaledServices;
import dev.activator.standalone.policy.TcpPortTable;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.ThrottlerOptions;
import dev.activator.upstream.ProbeClient;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Makes the objects that many tests start with, so that a changed constructor changes one line of the
 * tests. {@code Dispatchers} makes those of the request path.
 */
public final class Make {
  /** The address of the activator under test, unless the test names another. */
  public static final String OWN_ADDRESS = "10.9.9.9";

  private Make() {}

  /**
   * A throttler that queues so many requests of each revision. When the test is over, it must be
   * {@linkplain Quiescence at rest}.
   */
  public static Throttler throttler(LiveRevisions revisions, int maxQueued) {
    return Quiescence.watch(
        throttler(revisions, OWN_ADDRESS, ThrottlerOptions.of(maxQueued), new Random(1)));
  }

  public static Throttler throttler(LiveRevisions revisions, String ownAddress,
      ThrottlerOptions options, RandomGenerator random) {
    return throttler(revisions, ownAddress, options, random,
        TestExtensions.one(PermitSharing.NONE, one -> one.sharing(ownAddress)));
  }

  public static Throttler throttler(LiveRevisions revisions, String ownAddress,
      ThrottlerOptions options, RandomGenerator random, PermitSharing sharing) {
    return new Throttler(revisions, ownAddress, options, random, sharing);
  }

  /** A manager with the settings of a new installation. */
  public static RevisionBackendsManager backends(LiveRevisions revisions, Loop probes,
      ProbeClient client) {
    return backends(revisions, probes, client, ProbeSettings.DEFAULT, new Random(1));
  }

  public static RevisionBackendsManager backends(LiveRevisions revisions, Loop probes,
      ProbeClient client, ProbeSettings settings, RandomGenerator random) {
    return new RevisionBackendsManager(revisions, probes, client, settings, random);
  }

  /** All ScaledServices of a cluster, of the only activator. */
  public static ScaledServices scaledServices() {
    return new ScaledServices(scope());
  }

  public static ScaledServices.Scope scope() {
    return new ScaledServices.Scope("cluster.local", NamespaceHostRules.ANY, Set.of(),
        TestValues.MAX_TIMEOUT, TcpPortTable.Allowed.NONE);
  }

  /** Follows a cluster of the oldest Kubernetes that is supported; its start may take two minutes. */
  public static ClusterWatcher cluster(Supplier<ClusterAccess> access) {
    return cluster(access, Duration.ofSeconds(120));
  }

  public static ClusterWatcher cluster(Supplier<ClusterAccess> access, Duration startTimeout) {
    return cluster(access, startTimeout, ReflectorSettings.DEFAULT, TestValues.ANY_SLICES);
  }

  public static ClusterWatcher cluster(Supplier<ClusterAccess> access, Duration startTimeout,
      ReflectorSettings settings, PodAddressPreference source) {
    return cluster(TestRevisions.unused(), access, TestValues.OLDEST_KUBERNETES, startTimeout,
        settings, new Random(1), source);
  }

  public static ClusterWatcher cluster(LiveRevisions live, Supplier<ClusterAccess> access,
      KubernetesVersion minimum, Duration startTimeout, ReflectorSettings settings,
      RandomGenerator random,
      PodAddressPreference source) {
    return new ClusterWatcher(live, access, minimum, startTimeout, settings, random, source);
  }
}
