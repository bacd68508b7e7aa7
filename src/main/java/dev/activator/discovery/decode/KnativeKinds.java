package dev.activator.discovery.decode;

import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.decode.WatchedKind;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.Revision;
import dev.activator.tls.CertificateListener.RoutingCertificate;

/** The kinds of objects that describe a Knative revision. */
public final class KnativeKinds {
  public static final WatchedKind<RevisionEndpointSlice> ENDPOINTS = new WatchedKind<>("Endpoints",
      "api/v1",
      "endpoints", EndpointsReader::new, RevisionEndpointSlice::after);
  public static final WatchedKind<RevisionEndpointSlice> ENDPOINT_SLICES = new WatchedKind<>(
      "EndpointSlice",
      "apis/discovery.k8s.io/v1", "endpointslices", EndpointSliceReader::new,
      RevisionEndpointSlice::after);
  public static final WatchedKind<Revision> REVISIONS = new WatchedKind<>("Revision",
      "apis/serving.knative.dev/v1", "revisions", RevisionReader::new);
  public static final WatchedKind<PrivateClusterIp> SERVICES = new WatchedKind<>("Service",
      "api/v1",
      "services", ClusterIpReader::new);
  public static final WatchedKind<ConfigMapReader.Texts> CONFIG_MAPS = new WatchedKind<>(
      "ConfigMap", "api/v1", "configmaps", ConfigMapReader::new);
  public static final WatchedKind<RoutingCertificate> SECRETS = new WatchedKind<>("Secret",
      "api/v1", "secrets", RoutingCertificateReader::new);

  private KnativeKinds() {}
}
