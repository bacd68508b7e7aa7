package dev.activator.standalone.policy;

import dev.activator.revision.PortProtocol;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A Kubernetes Service with the fields that stand-alone mode needs to send requests to its pods.
 *
 * @param selector the labels of its pods; empty if another controller writes its EndpointSlices
 * @param isLocal whether each node sends requests only to pods on the same node
 */
public record KubernetesService(String namespace, String name, Map<String, String> selector,
    List<Port> ports, boolean isLocal) {
  public KubernetesService {
    selector = Map.copyOf(selector);
    ports = List.copyOf(ports);
  }

  /**
   * @param name empty only if this is the only port
   * @param target the name or number of the pods' port
   */
  public record Port(String name, int number, String target, String appProtocol) {
    /**
     * The protocol that {@code appProtocol} names or, without one, the name of the port up to its
     * first hyphen. <b>Source.</b> Kubernetes' documentation of Services; Istio's of the selection of
     * protocols, where {@code grpc-web} is HTTP/1.
     */
    public PortProtocol protocol() {
      return switch (protocolName()) {
        case "kubernetes.io/h2c", "h2c", "http2", "grpc" -> PortProtocol.H2C;
        default -> PortProtocol.HTTP1;
      };
    }

    /** Whether pods speak TLS there, by the same names. */
    public boolean isTls() {
      return switch (protocolName().toLowerCase(Locale.ROOT)) {
        case "https", "tls", "kubernetes.io/wss" -> true;
        default -> false;
      };
    }

    /** Whether {@code appProtocol} says that pods do not speak TLS there. */
    boolean isPlain() {
      return switch (appProtocol.toLowerCase(Locale.ROOT)) {
        case "http", "h2c", "kubernetes.io/h2c", "kubernetes.io/ws" -> true;
        default -> false;
      };
    }

    private String protocolName() {
      return appProtocol.isEmpty() && !name.startsWith("grpc-web")
          ? name.replaceFirst("-.*", "")
          : appProtocol;
    }

    @Override
    public String toString() {
      return name.isEmpty() ? Integer.toString(number) : name + " (" + number + ")";
    }
  }

  /** The port with this name or number; null if there is none. */
  public @Nullable Port port(String wanted) {
    return ports.stream()
        .filter(one -> one.name.equals(wanted) || Integer.toString(one.number).equals(wanted))
        .findFirst().orElse(null);
  }
}
