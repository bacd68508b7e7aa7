package dev.activator.standalone.policy;

import dev.activator.kube.policy.IpFamily;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.Map;

/**
 * An EndpointSlice that adds activators to the Service of a ScaledService, so that they get its
 * requests.
 *
 * @param of the ScaledService that owns the slice
 * @param uid the ScaledService's uid; it changes if the ScaledService is deleted and created again
 *     under the same name
 * @param service the Service's name
 * @param ports the ports on which activators listen, by the names of the Service's ports
 * @param addresses the addresses of activators, sorted
 */
public record ActivatorEndpointSlice(RevisionId of, String uid, String service, IpFamily family,
    Map<String, Integer> ports, List<String> addresses) {
  /** Our value of the label that names the controller of a slice. */
  public static final String MANAGER = "activator.dev";
  /** An annotation with the name of the ScaledService. */
  public static final String SCALED_SERVICE = "activator.dev/scaled-service";
  private static final int MAX_NAME = 253;

  public ActivatorEndpointSlice {
    ports = Map.copyOf(ports);
    addresses = addresses.stream().sorted().toList();
  }

  /**
   * The name of the slice. It contains the Service's name, since proxies do not expect that a slice
   * moves to another Service.
   */
  public String name() {
    var end = "." + service + (family == IpFamily.IPV6 ? ".ipv6." : ".") + MANAGER;
    var first = of.name();
    return first.length() + end.length() <= MAX_NAME
        ? first + end
        : "s" + Integer.toHexString(first.hashCode()) + end;
  }
}
