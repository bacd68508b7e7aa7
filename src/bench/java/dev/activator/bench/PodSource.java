package dev.activator.bench;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** Where Kubernetes lists the pods of a revision. */
public enum PodSource {
  ENDPOINTS("Endpoints", "v1", BuiltInKinds.ENDPOINTS),
  SLICES("EndpointSlice", "discovery.k8s.io/v1", BuiltInKinds.ENDPOINT_SLICE);

  private final String kindName;
  private final String apiVersion;
  private final Kind kind;

  PodSource(String kindName, String apiVersion, Kind kind) {
    this.kindName = kindName;
    this.apiVersion = apiVersion;
    this.kind = kind;
  }

  /** A pod as it is listed. */
  public record Pod(String ip, int port, boolean ready) {}

  /** @param name as on the command line */
  public static PodSource of(String name) {
    return switch (name) {
      case "endpoints" -> ENDPOINTS;
      case "slices" -> SLICES;
      default -> throw new IllegalArgumentException("neither endpoints nor slices: " + name);
    };
  }

  public Kind kind() {
    return kind;
  }

  String kindName() {
    return kindName;
  }

  /** What makes an activator's JVM read this kind. */
  public String flag() {
    return "-Dactivator.endpoints-source=" + (this == SLICES ? "endpointslices" : "endpoints");
  }

  /** An object that lists one pod, or none. */
  ObjectNode object(String metadata, List<Pod> pods) {
    return list(Objects.parse("{'apiVersion': '%s', 'kind': '%s', 'metadata': %s}".formatted(
        apiVersion, kindName, metadata)), pods);
  }

  /** Makes the object list these pods, which have one port. */
  public ObjectNode list(ObjectNode object, List<Pod> pods) {
    var body = Objects.parse(this == SLICES ? slice(pods) : subsets(pods));
    object.setAll(body);
    return object;
  }

  private static String subsets(List<Pod> pods) {
    if (pods.isEmpty()) {
      return "{'subsets': []}";
    }
    return "{'subsets': [{'addresses': %s, 'notReadyAddresses': %s, 'ports': %s}]}".formatted(
        pods.stream().filter(Pod::ready).map(PodSource::address).toList(),
        pods.stream().filter(pod -> !pod.ready()).map(PodSource::address).toList(), ports(pods));
  }

  private static String slice(List<Pod> pods) {
    return "{'addressType': 'IPv4', 'endpoints': %s, 'ports': %s}".formatted(
        pods.stream()
            .map(pod -> """
                {'addresses': ['%1$s'], 'nodeName': 'node-1',
                 'conditions': {'ready': %2$s, 'serving': %2$s, 'terminating': false}}"""
                .formatted(pod.ip(), pod.ready()))
            .toList(),
        ports(pods));
  }

  private static String address(Pod pod) {
    return "{'ip': '" + pod.ip() + "', 'nodeName': 'node-1'}";
  }

  private static String ports(List<Pod> pods) {
    return pods.isEmpty()
        ? "[]"
        : "[{'name': 'http', 'port': " + pods.getFirst().port() + ", 'protocol': 'TCP'}]";
  }
}
