package dev.activator.settings;

import dev.activator.revision.LiveRevisions;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.discovery.PodAddressPreference;
import dev.activator.discovery.PodAddressPreference.EndpointsSource;
import dev.activator.kube.policy.KubernetesVersion;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.config.SettingPreconditions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings for the Kubernetes API.
 *
 * @param kubeconfig the kubeconfig file; {@code -kubeconfig}. Not needed in a pod
 * @param server the address of the Kubernetes API, instead of the kubeconfig's; {@code -server}
 * @param kubeconfigCluster the name of a cluster in the kubeconfig, instead of the current
 *     context's; {@code -cluster}
 * @param apiQps the limit of writes a second to the API; {@code -kube-api-qps}. 0 for no limit, or
 *     for 5 if a burst is set
 * @param apiBurst the burst of writes to the API that is not delayed; {@code -kube-api-burst}. 0
 *     for 10 if there is a limit
 * @param autoscaler the address of the autoscaler's WebSocket. Empty for Knative's Service
 * @param apiTimeout how long the start waits for an API that does not answer
 * @param minVersion the oldest supported version of the API server
 * @param watchAlarm how long a watch may fail to open before a warning is logged; after twice that,
 *     everything is listed again
 * @param auditPeriod how often the informers are compared with a fresh list; varied by a tenth
 */
@ConfigurationProperties("activator.cluster")
public record ClusterProperties(@DefaultValue("") String kubeconfig,
    @DefaultValue("") String server,
    @DefaultValue("") String kubeconfigCluster, @DefaultValue("0") double apiQps,
    @DefaultValue("0") int apiBurst, @DefaultValue("") String autoscaler,
    @DefaultValue("60s") Duration apiTimeout,
    @DefaultValue("v1.34.0") String minVersion, @DefaultValue("60s") Duration watchAlarm,
    @DefaultValue("10m") Duration auditPeriod) {

  private static final double DEFAULT_QPS = 5;
  private static final int DEFAULT_BURST = 10;

  public ClusterProperties {
    apiTimeout = SettingPreconditions.positive("activator.cluster.api-timeout", apiTimeout);
    watchAlarm = SettingPreconditions.positive("activator.cluster.watch-alarm", watchAlarm);
    auditPeriod = SettingPreconditions.positive("activator.cluster.audit-period", auditPeriod);
    if (!autoscaler.isBlank()) {
      SettingPreconditions.url("activator.cluster.autoscaler", autoscaler, List.of("ws", "wss"));
    }
    if (!server.isBlank()) {
      SettingPreconditions.url("-server", withScheme(server), List.of("https", "http"));
    }
    SettingPreconditions.variable(isVersion(minVersion), "KUBERNETES_MIN_VERSION", minVersion,
        "must be a version such as v1.34.0");
    SettingPreconditions.variable(apiQps >= 0 && Double.isFinite(apiQps), "KUBE_API_QPS", apiQps,
        "must be a number, 0 or more");
    SettingPreconditions.variable(apiBurst >= 0, "KUBE_API_BURST", apiBurst,
        "must be a whole number, 0 or more");
    SettingPreconditions.variable(kubeconfigCluster.isBlank() || !kubeconfig.isBlank(), "-cluster",
        kubeconfigCluster, "there is no -kubeconfig to look it up in");
  }

  private static boolean isVersion(String text) {
    try {
      var _ = KubernetesVersion.parse(text);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Creates the watcher, which is not connected yet. */
  public ClusterWatcher cluster(LiveRevisions live, Supplier<ClusterAccess> api, Duration timeout,
      RandomGenerator random, AddressProperties addresses, IdentityProperties identity) {
    var defaults = ReflectorSettings.DEFAULT;
    return new ClusterWatcher(live, api, KubernetesVersion.parse(minVersion), timeout,
        new ReflectorSettings(watchAlarm, defaults.verifyAfter(), auditPeriod,
            defaults.auditGrace()),
        random, PodAddressPreference.of(addresses.endpointsSource(), identity.podIp()));
  }

  /**
   * The rate limit of writes. If only one of rate and burst is set, the other has client-go's
   * default.
   */
  public KubernetesWriteRateLimiter.Limit writeLimit() {
    return apiQps == 0 && apiBurst == 0
        ? KubernetesWriteRateLimiter.Limit.NONE
        : new KubernetesWriteRateLimiter.Limit(apiQps == 0 ? DEFAULT_QPS : apiQps,
            apiBurst == 0 ? DEFAULT_BURST : apiBurst);
  }

  public URI autoscaler(IdentityProperties identity) {
    return URI.create(autoscaler.isBlank()
        ? "ws://autoscaler." + identity.systemNamespace() + ".svc." + identity.clusterDomain()
            + ":8080"
        : autoscaler);
  }

  public ClusterAccess access() {
    if (!kubeconfig.isBlank()) {
      return new ClusterAccess.Kubeconfig(Path.of(kubeconfig), server, kubeconfigCluster);
    }
    return server.isBlank()
        ? new ClusterAccess.InCluster()
        : new ClusterAccess.At(URI.create(withScheme(server)));
  }

  /** Adds the scheme if there is none, like client-go. */
  private static String withScheme(String server) {
    return server.contains("://") ? server : "http://" + server;
  }

  /**
   * The settings for the source of the addresses of pods and activators.
   *
   * @param endpointsSource which objects are read: {@code endpointslices}, {@code endpoints}, or
   *     {@code auto} for EndpointSlices where they can be used
   */
  @ConfigurationProperties("activator")
  public record AddressProperties(@DefaultValue("auto") EndpointsSource endpointsSource) {}

  /**
   * The names of the ConfigMaps in the system namespace that are read in addition to
   * {@code config-network}.
   *
   * @param logging the ConfigMap for log levels
   * @param waitingPage the ConfigMap with a custom waiting page in {@code page.html}; it may be
   *     missing
   * @param observability the ConfigMap for metrics, traces, request log and profiling
   */
  @ConfigurationProperties("activator.config-maps")
  public record ConfigMapProperties(@DefaultValue("config-logging") String logging,
      @DefaultValue("config-observability") String observability,
      @DefaultValue("config-waiting-page") String waitingPage) {

    public ConfigMapProperties {
      SettingPreconditions.name("CONFIG_LOGGING_NAME", logging, "ConfigMap");
      SettingPreconditions.name("CONFIG_OBSERVABILITY_NAME", observability, "ConfigMap");
      SettingPreconditions.name("activator.config-maps.waiting-page", waitingPage, "ConfigMap");
    }
  }
}
