package dev.activator.standalone.policy;

import java.util.List;
import java.util.Map;

/**
 * The ports of a ScaledService's Service that take connections, not HTTP requests, in the order of the
 * manifest.
 *
 * @param besideHttp whether {@link ScaledService#port} takes HTTP requests; otherwise it is the first
 *     of these ports
 */
public record ConnectionPorts(List<ConnectionPort> ports, boolean besideHttp) {
  public static final ConnectionPorts NONE = new ConnectionPorts(List.of(), true);

  /**
   * One of them.
   *
   * @param name the name or number of a port of the Service
   * @param sni the server names of the TLS connections to it, in lower case
   * @param settings the other fields, as annotations of the revision
   */
  public record ConnectionPort(String name, List<String> sni, Map<String, String> settings) {
    public ConnectionPort {
      sni = List.copyOf(sni);
      settings = Map.copyOf(settings);
    }
  }

  public ConnectionPorts {
    ports = List.copyOf(ports);
  }

  public List<String> names() {
    return ports.stream().map(ConnectionPort::name).toList();
  }
}
