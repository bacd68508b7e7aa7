package dev.activator.cluster.policy;

import dev.activator.revision.RevisionId;
import java.util.List;

/**
 * An EndpointSlice by which activators get the requests to a ScaledService's own Service.
 *
 * @param of the ScaledService, which owns it
 * @param uid of the ScaledService, which differs if it was created again under the name
 * @param service the Service's name
 * @param port the name of its port
 * @param number the activators' port
 * @param addresses of activators, in order
 */
public record ActivatorEndpointSlice(RevisionId of, String uid, String service, IpFamily family,
    String port,
    int number, List<String> addresses) {
  /** The value of the label that says which controller writes a slice. */
  public static final String MANAGER = "activator.dev";
  private static final int MAX_NAME = 253;

  public ActivatorEndpointSlice {
    addresses = addresses.stream().sorted().toList();
  }

  /** The Service is part of it, as proxies do not expect a slice to move to another one. */
  public String name() {
    var end = "." + service + (family == IpFamily.IPV6 ? ".ipv6." : ".") + MANAGER;
    var first = of.name();
    return first.length() + end.length() <= MAX_NAME
        ? first + end
        : "s" + Integer.toHexString(first.hashCode()) + end;
  }
}
