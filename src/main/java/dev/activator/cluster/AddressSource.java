package dev.activator.cluster;

import dev.activator.cluster.policy.IpFamily;

/**
 * Where addresses come from.
 *
 * @param source which objects hold them
 * @param preferred the address to take of a pod that has one of each family
 */
public record AddressSource(EndpointsSource source, IpFamily preferred) {
  /** Which objects the addresses of pods and activators are read from. */
  public enum EndpointsSource {
    /** EndpointSlices where they can be used, else Endpoints. */
    AUTO,
    /** EndpointSlices; the start fails where they cannot be listed. */
    ENDPOINTSLICES,
    /** Endpoints, as Knative's activator does. */
    ENDPOINTS
  }

  public static final AddressSource DEFAULT = new AddressSource(EndpointsSource.AUTO,
      IpFamily.IPV4);

  /** Of pods with two addresses, those of the activator's own family are taken. */
  public static AddressSource of(EndpointsSource source, String ownIp) {
    return new AddressSource(source, IpFamily.of(ownIp));
  }
}
