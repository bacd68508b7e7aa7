package dev.activator.cluster;

import dev.activator.config.Proxies;
import java.net.URI;
import java.nio.file.Path;

/** How to reach the Kubernetes API, and with which credentials. */
public sealed interface ClusterAccess {
  /** With the pod's service account. */
  record InCluster() implements ClusterAccess {}

  /**
   * With the current context of a kubeconfig.
   *
   * @param server replaces the file's address of the API unless empty
   * @param cluster replaces the context's cluster, by name, unless empty
   */
  record Kubeconfig(Path file, String server, String cluster) implements ClusterAccess {}

  /** Without credentials. */
  record At(URI url) implements ClusterAccess {}

  /**
   * Through a proxy if one is set for the API's host; a kubeconfig's own proxy takes precedence.
   */
  record Through(ClusterAccess access, Proxies proxies) implements ClusterAccess {}
}
