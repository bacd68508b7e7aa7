package dev.activator.cluster.policy;

import dev.activator.revision.PortProtocol;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A Kubernetes Service as stand-alone mode reads it, to send requests to its pods.
 *
 * @param selector of its pods; empty if another controller writes its EndpointSlices
 * @param isLocal whether each node sends requests to the pods on it only
 */
public record KubernetesService(String namespace, String name, Map<String, String> selector,
    List<Port> ports, boolean isLocal) {
  public KubernetesService {
    selector = Map.copyOf(selector);
    ports = List.copyOf(ports);
  }

  /**
   * @param name empty only if it is the only one
   * @param target the pods' port, by name or number
   */
  public record Port(String name, int number, String target, String appProtocol) {
    /** <b>Source.</b> {@code appProtocol} in Kubernetes' documentation of Services. */
    public PortProtocol protocol() {
      return appProtocol.equals("kubernetes.io/h2c") ? PortProtocol.H2C : PortProtocol.HTTP1;
    }

    @Override
    public String toString() {
      return name.isEmpty() ? Integer.toString(number) : name + " (" + number + ")";
    }
  }

  /** @param wanted a name or a number */
  public @Nullable Port port(String wanted) {
    return ports.stream()
        .filter(one -> one.name.equals(wanted) || Integer.toString(one.number).equals(wanted))
        .findFirst().orElse(null);
  }
}
