package dev.activator.discovery;

import dev.activator.kube.Sessions;
import dev.activator.kube.ClusterAccess;
import dev.activator.revision.LiveRevisions;
import dev.activator.discovery.PodAddressPreference.EndpointsSource;
import dev.activator.kube.policy.IpFamily;
import dev.activator.kube.policy.KubernetesVersion;
import dev.activator.kube.reflector.ApiErrorText;
import dev.activator.kube.reflector.ReflectorContext;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.kube.reflector.SimulatedApi;
import dev.activator.loop.Loop;
import dev.activator.testing.Make;
import java.net.URI;
import java.time.Duration;
import java.util.Random;

/** Follows the objects of a {@link SimulatedApi} with the parts of the product, in virtual time. */
public final class SimulatedCluster {
  private static final ReflectorSettings SETTINGS = new ReflectorSettings(Duration.ofSeconds(10),
      Duration.ofSeconds(15), Duration.ofSeconds(30), Duration.ofSeconds(2));
  private SimulatedCluster() {}

  /** One to register consumers at. */
  public static ClusterWatcher of(LiveRevisions live, Random random) {
    return Make.cluster(live, () -> new ClusterAccess.At(URI.create("http://127.0.0.1:1")),
        KubernetesVersion.parse("v1.0.0"), Duration.ofSeconds(1), SETTINGS, random,
        new PodAddressPreference(EndpointsSource.ENDPOINTSLICES, IpFamily.IPV4));
  }

  /** Begins to list and watch. */
  public static void start(ClusterWatcher cluster, SimulatedApi api, Loop loop, Random random) {
    var informers = api.informers(
        new ReflectorContext(loop, SETTINGS, random, new ApiErrorText("http://127.0.0.1:1")));
    cluster.follow(Sessions.of(informers, loop));
  }
}
