package dev.activator.cluster;

import dev.activator.config.Proxies;
import java.net.URI;
import java.nio.file.Path;

/** How the Kubernetes API is found, and who we are to it. */
public sealed interface ClusterAccess {
  /** As the pod's service account: what Kubernetes puts into every container. */
  record InCluster() implements ClusterAccess {}

  /**
   * As the current context of a kubeconfig file says.
   *
   * @param server the address of the API, in the place of the file's; empty for that
   * @param cluster the name of the file's cluster, in the place of the context's; empty for that
   */
  record Kubeconfig(Path file, String server, String cluster) implements ClusterAccess {}

  /** Without credentials, at this address. */
  record At(URI url) implements ClusterAccess {}

  /** The same, by way of a proxy, where there is to be one; a kubeconfig's own wins. */
  record Through(ClusterAccess access, Proxies proxies) implements ClusterAccess {}
}
