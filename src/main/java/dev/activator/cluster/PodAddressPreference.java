package dev.activator.cluster;

import dev.activator.cluster.policy.IpFamily;

/**
 * Which objects pod addresses are read from (EndpointSlices or Endpoints), and which IP family is
 * preferred.
 */
public record PodAddressPreference(EndpointsSource source, IpFamily preferred) {
  public enum EndpointsSource {
    /** EndpointSlices if we may list and watch them, else Endpoints. */
    AUTO,
    /** The start fails if they cannot be listed. */
    ENDPOINTSLICES,
    /** As Knative's activator does. */
    ENDPOINTS
  }

  /** Prefers the IP family of the activator's own address. */
  public static PodAddressPreference of(EndpointsSource source, String ownIp) {
    return new PodAddressPreference(source, IpFamily.of(ownIp));
  }
}
