package dev.activator.standalone.policy;

import java.util.List;

/**
 * The ports of a ScaledService's Service that take connections, not HTTP requests.
 *
 * @param names names or numbers of ports, in the order of the manifest
 * @param besideHttp whether {@link ScaledService#port} takes HTTP requests; otherwise it is the first
 *     of these ports
 */
public record ConnectionPorts(List<String> names, boolean besideHttp) {
  public static final ConnectionPorts NONE = new ConnectionPorts(List.of(), true);

  public ConnectionPorts {
    names = List.copyOf(names);
  }
}
