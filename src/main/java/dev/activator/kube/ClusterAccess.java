package dev.activator.kube;

import dev.activator.config.OutboundProxies;
import java.net.URI;
import java.nio.file.Path;

/** The address of the Kubernetes API, and the credentials for it. */
public sealed interface ClusterAccess {
  /**
   * Reads the kubeconfig, if there is one, without running a plugin.
   *
   * @throws ClusterUnavailableException if it cannot be used
   */
  default void check() {
    if (this instanceof Kubeconfig from) {
      KubernetesClientFactory.read(from);
    }
  }

  /** The API of the pod's cluster, with the pod's service account. */
  record InCluster() implements ClusterAccess {}

  /**
   * The API of a kubeconfig's current context.
   *
   * @param server replaces the server of the context; empty to keep it
   * @param cluster the name of a cluster in the file that replaces that of the context; empty to
   *     keep it
   */
  record Kubeconfig(Path file, String server, String cluster) implements ClusterAccess {}

  /** An API at this URL, without credentials. */
  record At(URI url) implements ClusterAccess {}

  /** Access through a proxy. The proxy of a kubeconfig takes precedence. */
  record Through(ClusterAccess access, OutboundProxies proxies) implements ClusterAccess {}
}
