package dev.activator.app.properties;

import dev.activator.cluster.ClusterAccess;
import dev.activator.cluster.policy.KubernetesVersion;
import dev.activator.cluster.reflector.ReflectorSettings;
import dev.activator.config.GoDuration;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How the cluster's API is used.
 *
 * @param kubeconfig the file that says where it is; {@code KUBECONFIG} or {@code -kubeconfig}. Empty
 *     in a pod, which knows by itself
 * @param server the address of the API, in the place of the kubeconfig's; {@code -server}
 * @param kubeconfigCluster which of the kubeconfig's clusters, in the place of the current context's;
 *     {@code -cluster}
 * @param apiQps requests a second that other components limit themselves to; {@code KUBE_API_QPS},
 *     {@code -kube-api-qps}. Checked, and of no effect: lists and watches stay far below
 * @param apiBurst requests at once that other components limit themselves to; {@code
 *     KUBE_API_BURST}, {@code -kube-api-burst}. Checked, and of no effect
 * @param autoscaler the address of the autoscaler's WebSocket; empty for that of Knative's Service
 * @param apiTimeout how long one that does not answer is waited for at the start
 * @param minVersion the oldest API server to work with; {@code KUBERNETES_MIN_VERSION}
 * @param watchAlarm how long no watch may be open before the log warns; after twice that everything
 *     is listed anew
 * @param auditPeriod how often, give or take a tenth, what is known is compared with a fresh list
 * @param unschedulablePatience how long pods that no node takes, or whose volumes or network their
 *     node does not get ready, are waited for before requests are refused for it; longer than nodes
 *     are added in
 */
@ConfigurationProperties("activator.cluster")
public record ClusterProperties(@DefaultValue("") String kubeconfig,
    @DefaultValue("") String server,
    @DefaultValue("") String kubeconfigCluster, @DefaultValue("0") double apiQps,
    @DefaultValue("0") int apiBurst, @DefaultValue("") String autoscaler,
    @DefaultValue("60s") Duration apiTimeout,
    @DefaultValue("v1.34.0") String minVersion, @DefaultValue("60s") Duration watchAlarm,
    @DefaultValue("10m") Duration auditPeriod,
    @DefaultValue("60s") Duration unschedulablePatience) {

  public ClusterProperties {
    requirePositive("watch-alarm", watchAlarm);
    requirePositive("audit-period", auditPeriod);
    requirePositive("unschedulable-patience", unschedulablePatience);
    requireVersion(minVersion);
    if (!(apiQps >= 0) || Double.isInfinite(apiQps)) {
      throw new IllegalArgumentException(
          "KUBE_API_QPS is '" + apiQps + "', but must be a number, 0 or more");
    }
    if (apiBurst < 0) {
      throw new IllegalArgumentException(
          "KUBE_API_BURST is '" + apiBurst + "', but must be a whole number, 0 or more");
    }
    if (!kubeconfigCluster.isBlank() && kubeconfig.isBlank()) {
      throw new IllegalArgumentException("-cluster is '" + kubeconfigCluster
          + "', but there is no -kubeconfig to look it up in");
    }
  }

  private static void requirePositive(String name, Duration value) {
    if (!value.isPositive()) {
      throw new IllegalArgumentException(
          "activator.cluster." + name + " is " + GoDuration.print(value)
              + ", but must be more than 0");
    }
  }

  private static void requireVersion(String text) {
    if (!isVersion(text)) {
      throw new IllegalArgumentException(
          "KUBERNETES_MIN_VERSION is '" + text + "', but must be a version such as v1.34.0");
    }
  }

  private static boolean isVersion(String text) {
    try {
      var _ = KubernetesVersion.parse(text);
      return true;
    } catch (IllegalArgumentException malformed) {
      return false;
    }
  }

  public ReflectorSettings reflectorSettings() {
    var usual = ReflectorSettings.DEFAULT;
    return new ReflectorSettings(watchAlarm, usual.doubtAfter(), auditPeriod, usual.auditGrace());
  }

  /** Where the autoscaler listens. */
  public URI autoscaler(IdentityProperties identity) {
    return URI.create(autoscaler.isBlank()
        ? "ws://autoscaler." + identity.systemNamespace() + ".svc." + identity.clusterDomain()
            + ":8080"
        : autoscaler);
  }

  /** Where the API is. */
  public ClusterAccess access() {
    if (!kubeconfig.isBlank()) {
      return new ClusterAccess.Kubeconfig(Path.of(kubeconfig), server, kubeconfigCluster);
    }
    return server.isBlank()
        ? new ClusterAccess.InCluster()
        : new ClusterAccess.At(URI.create(server));
  }
}
