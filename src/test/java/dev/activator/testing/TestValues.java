package dev.activator.testing;

import dev.activator.standalone.policy.ConflictSpec;
import dev.activator.standalone.autoscaler.policy.LoadSample;
import dev.activator.discovery.PodAddressPreference;
import dev.activator.kube.policy.KubernetesVersion;
import dev.activator.standalone.policy.ConnectionPorts;
import dev.activator.standalone.policy.ScaledService.ServiceRef;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.standalone.policy.ScaledServiceRoute;
import dev.activator.standalone.policy.ScaledServiceStatus;
import dev.activator.revision.IdleSpec;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.embedded.api.cache.ObjectSelection;
import dev.activator.embedded.api.policy.FieldSelector;
import dev.activator.embedded.api.policy.LabelSelector;
import dev.activator.standalone.policy.LoadTarget;
import dev.activator.revision.QueueTimeHistogram;
import dev.activator.revision.ColdStartRules;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.policy.ScaledServiceSpec;
import dev.activator.standalone.policy.KeepWarmSettings;
import dev.activator.tls.ServerTlsSettings;
import io.fabric8.kubernetes.client.Config;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Values for what a test needs and does not test. */
public final class TestValues {
  public static final PodAddressPreference ANY_SLICES = PodAddressPreference
      .of(PodAddressPreference.EndpointsSource.AUTO, "");
  public static final KubernetesVersion OLDEST_KUBERNETES = KubernetesVersion.parse("v1.34.0");
  public static final ScaledServiceStatus NO_STATUS = new ScaledServiceStatus(OptionalInt.empty(),
      OptionalInt.empty(), 0, List.of());
  public static final Duration MAX_TIMEOUT = Duration.ofMinutes(10);
  public static final ServerTlsSettings TLS13 = new ServerTlsSettings(List.of("TLSv1.3"),
      List.of(), List.of(), null);
  public static final ObjectSelection ALL_OBJECTS = new ObjectSelection("",
      LabelSelector.EVERYTHING,
      FieldSelector.EVERYTHING);

  private TestValues() {}

  /** Without a kubeconfig that changes, and without a limit of writes. */
  /** As in the product, a request is sent once. */
  public static KubernetesApiClient kubernetesApi(Config config) {
    config.setRequestRetryBackoffLimit(0);
    return new KubernetesApiClient(config, null, KubernetesWriteRateLimiter.UNLIMITED);
  }

  public static LoadTarget concurrency(OptionalInt requests) {
    return new LoadTarget(requests, OptionalInt.empty(), OptionalInt.empty());
  }

  /** Without times in the queue. */
  public static LoadSample sample(String reporter, double concurrency, double arrivals) {
    return new LoadSample(reporter, concurrency, arrivals, QueueTimeHistogram.NONE);
  }

  /** One that keeps no pods without requests. */
  public static ScaledServiceSpec scaledTarget(RevisionId id, ScaleTargetRef workload,
      int minReplicas,
      OptionalInt maxReplicas, OptionalInt concurrency, int containerConcurrency, Duration window,
      Duration requestTimeout, OptionalInt lastDesired) {
    return new ScaledServiceSpec(id, workload, minReplicas, maxReplicas, false,
        concurrency(concurrency),
        containerConcurrency, window, requestTimeout, lastDesired, KeepWarmSettings.NONE,
        ConflictSpec.NONE, "");
  }

  /**
   * One that scales a Deployment of its name by concurrency, to the port {@code http} of the Service of
   * its name.
   */
  public static ScaledService scaledService(RevisionId id, String created, List<String> hosts,
      List<ScaledServiceRoute> routes, List<String> routeProblems) {
    return new ScaledService(id, id.name(), created, 1,
        new ScaleTargetRef("apps/v1", "Deployment", id.name()),
        new ServiceRef(id.name(), "http", null), hosts, routes, routeProblems, 0,
        OptionalInt.empty(), concurrency(OptionalInt.of(1)), 0, Duration.ofMinutes(5),
        Duration.ofMinutes(1), List.of(), Map.of(), Map.of(), null, KeepWarmSettings.NONE, false,
        ConnectionPorts.NONE, ConflictSpec.NONE, IdleSpec.NONE, NO_STATUS);
  }

  public static Revision withRules(Revision revision, @Nullable ColdStartRules rules) {
    return new Revision(revision.id(), revision.uid(), revision.protocol(),
        revision.containerConcurrency(), revision.timeouts(), revision.probesBeforeReady(),
        revision.readinessProbe(), revision.labels(), revision.annotations(),
        revision.startFailure(), rules, revision.podIdentity());
  }
}
