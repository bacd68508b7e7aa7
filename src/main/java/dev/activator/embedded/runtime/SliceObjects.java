package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.api.store.Meta;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * An Endpoints object as EndpointSlices: one for each set of ports and family of addresses, and an
 * empty one where there are no addresses.
 *
 * <p>
 * <b>Source.</b> {@code endpointslicemirroring} in Kubernetes' controller manager, which copies the
 * labels too.
 */
final class SliceObjects {
  static final String SERVICE_NAME = "kubernetes.io/service-name";
  static final String MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
  static final String CONTROLLER = "endpointslicemirroring-controller.k8s.io";

  private final ObjectNode endpoints;
  private final Map<String, ObjectNode> slices = new LinkedHashMap<>();

  private SliceObjects(ObjectNode endpoints) {
    this.endpoints = endpoints;
  }

  /** The slices that say what this says; there is at least one. */
  static List<ObjectNode> of(ObjectNode endpoints) {
    var made = new SliceObjects(endpoints);
    for (var subset : endpoints.path("subsets")) {
      made.add(subset, "addresses", true);
      made.add(subset, "notReadyAddresses", false);
    }
    if (made.slices.isEmpty()) {
      made.slice("IPv4", Json.MAPPER.createArrayNode());
    }
    return new ArrayList<>(made.slices.values());
  }

  /** What the slices of these Endpoints are labelled with. */
  static ObjectNode labels(ObjectNode endpoints) {
    var labels = Json.object();
    Meta.labels(endpoints).forEach(labels::put);
    return labels.put(SERVICE_NAME, Meta.name(endpoints)).put(MANAGED_BY, CONTROLLER);
  }

  private void add(JsonNode subset, String list, boolean ready) {
    for (var address : subset.path(list)) {
      String ip = address.path("ip").asString("");
      var slice = slice(ip.contains(":") ? "IPv6" : "IPv4", subset.path("ports"));
      var endpoint = slice.withArrayProperty("endpoints").addObject();
      endpoint.putArray("addresses").add(ip);
      endpoint.putObject("conditions").put("ready", ready).put("serving", ready)
          .put("terminating", false);
      if (address.has("targetRef")) {
        endpoint.set("targetRef", address.path("targetRef").deepCopy());
      }
    }
  }

  /** The one for these ports and this family. */
  private ObjectNode slice(String family, JsonNode ports) {
    String numbers = ports.valueStream().map(port -> port.path("port").asString(""))
        .collect(Collectors.joining("-"));
    String name = Meta.name(endpoints) + "-" + family.charAt(family.length() - 1) + "-"
        + (numbers.isEmpty() ? "0" : numbers);
    return slices.computeIfAbsent(name, _ -> fresh(name, family, ports));
  }

  private ObjectNode fresh(String name, String family, JsonNode ports) {
    var slice = Objects.of(Kinds.ENDPOINT_SLICE, Meta.namespace(endpoints), name);
    Meta.of(slice).set("labels", labels(endpoints));
    slice.put("addressType", family);
    slice.putArray("endpoints");
    slice.set("ports", ports instanceof ArrayNode some
        ? some.deepCopy()
        : Json.MAPPER
            .createArrayNode());
    return slice;
  }
}
