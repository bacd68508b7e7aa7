package dev.activator.cluster.endpoints;

import dev.activator.cluster.policy.IpFamily;
import java.time.Duration;

/**
 * Where addresses come from.
 *
 * @param source which objects hold them
 * @param preferred the address to take of a pod that has one of each family
 * @param lookAgain how long after a look at EndpointSlices the next one is taken, where it is ours to
 *     choose
 */
public record AddressSource(EndpointsSource source, IpFamily preferred, Duration lookAgain) {
  private static final Duration LOOK_AGAIN = Duration.ofMinutes(1);

  public static final AddressSource DEFAULT = new AddressSource(EndpointsSource.AUTO,
      IpFamily.IPV4);

  public AddressSource(EndpointsSource source, IpFamily preferred) {
    this(source, preferred, LOOK_AGAIN);
  }

  /** Of pods with two addresses, those of the activator's own family are taken. */
  public static AddressSource of(EndpointsSource source, String ownIp) {
    return new AddressSource(source, IpFamily.of(ownIp));
  }
}
