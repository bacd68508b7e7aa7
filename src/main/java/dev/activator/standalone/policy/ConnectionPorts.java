package dev.activator.standalone.policy;

import dev.activator.revision.ReadinessProbeSpec.Answer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
   * @param answer by which a pod shows that it is ready; null if its readinessProbe does
   * @param settings the other fields, as annotations of the revision
   */
  public record ConnectionPort(String name, List<String> sni, @Nullable Answer answer,
      Map<String, String> settings) {
    public ConnectionPort {
      sni = List.copyOf(sni);
      settings = Map.copyOf(settings);
    }
  }

  public ConnectionPorts {
    ports = List.copyOf(ports);
  }

  @Nullable ConnectionPort find(String name) {
    return ports.stream().filter(one -> one.name().equals(name)).findFirst().orElse(null);
  }

  public List<String> names() {
    return ports.stream().map(ConnectionPort::name).toList();
  }
}
