package dev.activator.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.activator.cluster.decode.Items;
import dev.activator.cluster.policy.KubernetesVersion;
import dev.activator.cluster.reflector.ApiErrors;
import dev.activator.config.Proxies;
import io.fabric8.kubernetes.api.model.Cluster;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.NamespacedKubernetesClient;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.fabric8.kubernetes.client.dsl.FunctionCallable;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Makes the client, and asks the API whether it is there and new enough. */
public final class Connection {
  private static final int RETRIES_OF_A_REQUEST = 4;
  private static final int REQUEST_TIMEOUT_MILLIS = 30_000;
  private static final int CONNECT_TIMEOUT_MILLIS = 5_000;
  private static final int LEAST_RECONNECT_MILLIS = 200;

  private Connection() {}

  /**
   * A client that decodes the kinds of {@link Items} and nothing else.
   *
   * @param executor runs its tasks, and must refuse none
   * @throws ClusterUnavailableException if there is no such configuration
   */
  static KubernetesClient open(ClusterAccess access, RandomGenerator random, Executor executor) {
    return new KubernetesClientBuilder().withConfig(configured(access, random))
        .withKubernetesSerialization(serialization()).withTaskExecutor(executor).build();
  }

  /** How the API is reached, and how often what fails is tried. */
  public static Config configured(ClusterAccess access, RandomGenerator random) {
    var config = config(access);
    // More, and one broken server takes a minute of each list; the informers try again anyway.
    config.setRequestRetryBackoffLimit(RETRIES_OF_A_REQUEST);
    config.setRequestTimeout(REQUEST_TIMEOUT_MILLIS);
    config.setConnectionTimeout(CONNECT_TIMEOUT_MILLIS);
    // Servers end every watch after some minutes, and until the next one nothing is heard: short,
    // then. But all activators lose a restarted server at once, and should not come back at once.
    config.setWatchReconnectInterval(
        LEAST_RECONNECT_MILLIS + random.nextInt(LEAST_RECONNECT_MILLIS));
    // The library's plain watches break on text that is not ASCII.
    config.setOnlyHttpWatches(false);
    return config;
  }

  /** What decodes the kinds of {@link Items}. */
  public static KubernetesSerialization serialization() {
    var serialization = new KubernetesSerialization(new ObjectMapper(), false);
    serialization.registerKubernetesResource(Status.class);
    serialization.registerKubernetesResource(Items.OfEndpoints.class);
    serialization.registerKubernetesResource(Items.OfEndpointSlice.class);
    serialization.registerKubernetesResource(Items.OfPod.class);
    serialization.registerKubernetesResource(Items.OfService.class);
    serialization.registerKubernetesResource(Items.OfRevision.class);
    serialization.registerKubernetesResource(Items.OfConfigMap.class);
    serialization.registerKubernetesResource(Items.OfSecret.class);
    return serialization;
  }

  private static Config config(ClusterAccess access) {
    return switch (access) {
      case ClusterAccess.InCluster() -> Config.autoConfigure(null);
      case ClusterAccess.Kubeconfig from -> kubeconfig(from);
      case ClusterAccess.At(var url) -> {
        var config = Config.empty();
        config.setMasterUrl(url.toString());
        yield config;
      }
      case ClusterAccess.Through(var inner, var proxies) -> through(proxies, inner);
    };
  }

  private static Config through(Proxies proxies, ClusterAccess access) {
    var config = config(access);
    // In a pod the library has read the variables itself, by rules of its own.
    var own = access instanceof ClusterAccess.Kubeconfig ? ownProxy(config) : null;
    var proxy = proxies.of(URI.create(config.getMasterUrl()));
    var url = own == null && proxy != null ? proxy.toString() : own;
    config.setHttpProxy(url);
    config.setHttpsProxy(url);
    config.setNoProxy(null);
    return config;
  }

  private static @Nullable String ownProxy(Config config) {
    return config.getHttpsProxy() == null ? config.getHttpProxy() : config.getHttpsProxy();
  }

  private static Config kubeconfig(ClusterAccess.Kubeconfig access) {
    var file = access.file();
    if (!Files.isReadable(file)) {
      throw new ClusterUnavailableException("there is no readable kubeconfig at " + file);
    }
    try {
      var config = Config.fromKubeconfig(file.toFile());
      if (!access.cluster().isBlank()) {
        use(clusterNamed(access.cluster(), file), config, file);
      }
      if (!access.server().isBlank()) {
        config.setMasterUrl(access.server());
      }
      return config;
    } catch (IOException | RuntimeException malformed) {
      throw new ClusterUnavailableException(
          "the kubeconfig at " + file + " cannot be used: " + malformed.getMessage());
    }
  }

  private static Cluster clusterNamed(String name, Path file) throws IOException {
    return new KubernetesSerialization()
        .unmarshal(Files.readString(file), io.fabric8.kubernetes.api.model.Config.class)
        .getClusters().stream().filter(one -> one.getName().equals(name)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException("it has no cluster '" + name + "'"))
        .getCluster();
  }

  /** Another cluster than the context's, as the same user. */
  private static void use(Cluster cluster, Config config, Path file) {
    config.setMasterUrl(cluster.getServer());
    config.setCaCertData(cluster.getCertificateAuthorityData());
    var authority = cluster.getCertificateAuthority();
    config.setCaCertFile(
        authority == null ? null : file.resolveSibling(authority).toString());
    config.setTrustCerts(Boolean.TRUE.equals(cluster.getInsecureSkipTlsVerify()));
  }

  /** A client that does not try again by itself: what is wrong is wanted now. */
  static FunctionCallable<? extends NamespacedKubernetesClient> once(
      KubernetesClient client) {
    var once = new RequestConfigBuilder(client.getConfiguration().getRequestConfig())
        .withRequestRetryBackoffLimit(0).withRequestTimeout(CONNECT_TIMEOUT_MILLIS).build();
    return client.adapt(NamespacedKubernetesClient.class).withRequestConfig(once);
  }

  /** What keeps the API from being used, in a line; null if nothing does. */
  public static @Nullable String problem(KubernetesClient client, KubernetesVersion minimum) {
    var url = client.getMasterUrl();
    try {
      var found = once(client).call(NamespacedKubernetesClient::getKubernetesVersion);
      var version = found == null ? null : found.getGitVersion();
      if (version == null) {
        return "what answers at " + url + " is no Kubernetes API: it has no version";
      }
      return KubernetesVersion.parse(version).isAtLeast(minimum)
          ? null
          : "the Kubernetes API at " + url + " is " + version + ", but must be at least " + minimum;
    } catch (IllegalArgumentException odd) {
      return "what answers at " + url + " is no Kubernetes API: " + odd.getMessage();
    } catch (RuntimeException failure) {
      return new ApiErrors(url.toString()).about("get", "/version", failure);
    }
  }
}
