package dev.activator.standalone.policy;

import dev.activator.config.RevisionAnnotations;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.ReadinessProbeSpec.ExpectedAnswer;
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
   * @param answer what a pod that is ready answers; null if its readinessProbe shows that
   * @param settings the other fields, as annotations of the revision
   */
  public record ConnectionPort(String name, List<String> sni, @Nullable ExpectedAnswer answer,
      Map<String, String> settings) {
    public ConnectionPort {
      sni = List.copyOf(sni);
      settings = Map.copyOf(settings);
    }

    /**
     * How a pod shows that it is ready; null if its readinessProbe does. A pod that expects a PROXY
     * header gets that of a connection without a client first.
     *
     * <p><b>Source.</b> {@code check-send-proxy} in HAProxy.
     */
    @Nullable ReadinessProbeSpec probe() {
      if (answer == null) {
        return null;
      }
      var header = switch (settings.get(RevisionAnnotations.TCP_PROXY_PROTOCOL)) {
        case "v1" -> "PROXY UNKNOWN\r\n";
        case "v2" -> "\r\n\r\n\0\r\nQUIT\n\40\0\0\0";
        case null, default -> "";
      };
      return ReadinessProbeSpec
          .answering(new ExpectedAnswer(header + answer.send(), answer.expect()));
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
