package dev.activator.cluster;

import dev.activator.config.OutboundProxies;
import java.net.URI;
import java.nio.file.Path;

/** How the Kubernetes API is reached, and with which credentials. */
public sealed interface ClusterAccess {
  /** With the pod's service account. */
  record InCluster() implements ClusterAccess {}

  /**
   * With the current context of a kubeconfig.
   *
   * @param server replaces that of the file, unless empty
   * @param cluster the name of a cluster that replaces that of the context, unless empty
   */
  record Kubeconfig(Path file, String server, String cluster) implements ClusterAccess {}

  /** Without credentials. */
  record At(URI url) implements ClusterAccess {}

  /** A kubeconfig's own proxy takes precedence. */
  record Through(ClusterAccess access, OutboundProxies proxies) implements ClusterAccess {}
}
