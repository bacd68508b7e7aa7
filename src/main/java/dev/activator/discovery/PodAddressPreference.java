package dev.activator.discovery;

import dev.activator.kube.policy.IpFamily;

/**
 * The setting that chooses the source of pod addresses (EndpointSlices or Endpoints), and the IP
 * family that is preferred.
 */
public record PodAddressPreference(EndpointsSource source, IpFamily preferred) {
  public enum EndpointsSource {
    /** EndpointSlices if the activator may list and watch them, else Endpoints. */
    AUTO,
    /** EndpointSlices. The start fails if they cannot be listed. */
    ENDPOINTSLICES,
    /** Endpoints, as in Knative's activator. */
    ENDPOINTS
  }

  /** Prefers the IP family of the activator's own address. */
  public static PodAddressPreference of(EndpointsSource source, String ownIp) {
    return new PodAddressPreference(source, IpFamily.of(ownIp));
  }
}
