package dev.activator.embedded.runtime;

import dev.activator.embedded.api.policy.ObjectNames;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.revision.KnownLabels;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The controller that writes EndpointSlices for each Endpoints object: one for each set of ports
 * and each address family, or an empty one if there are no addresses.
 *
 * <p><b>Threads.</b> One loop.
 *
 * <p><b>Source.</b> {@code endpointslicemirroring} in Kubernetes' controller manager, which also
 * copies the labels.
 */
public final class EndpointSliceMirroringController {
  private static final String CONTROLLER = "endpointslicemirroring-controller.k8s.io";

  private final ControllerWrites objects;
  private final Map<String, Set<String>> written = new HashMap<>();

  public EndpointSliceMirroringController(ControllerWrites objects) {
    this.objects = objects;
  }

  public void endpointsChanged(ApiStoreChange event) {
    var endpoints = event.object();
    var before = written.remove(ObjectMeta.key(endpoints));
    var stale = before == null ? new HashSet<String>() : new HashSet<>(before);
    if (event.type() != ApiStoreChange.Type.DELETED) {
      var slices = slicesOf(endpoints);
      slices.forEach((name, slice) -> write(slice, stale.remove(name)));
      written.put(ObjectMeta.key(endpoints), slices.keySet());
    }
    stale.forEach(
        name -> objects.delete(BuiltInKinds.ENDPOINT_SLICE, ObjectMeta.namespace(endpoints), name));
  }

  /** Writes a slice again if a user has deleted it. */
  public void sliceChanged(ApiStoreChange event) {
    var slice = event.object();
    String namespace = ObjectMeta.namespace(slice);
    String service = ObjectMeta.labels(slice).getOrDefault(KnownLabels.SLICE_SERVICE, "");
    boolean wanted = written.getOrDefault(ObjectMeta.key(namespace, service), Set.of())
        .contains(ObjectMeta.name(slice));
    var endpoints = objects.find(BuiltInKinds.ENDPOINTS, namespace, service);
    if (event.type() == ApiStoreChange.Type.DELETED && wanted && endpoints != null) {
      slicesOf(endpoints).values().forEach(one -> write(one, true));
    }
  }

  private void write(ObjectNode slice, boolean exists) {
    // A user may have deleted the slice.
    if (!exists || !edit(slice)) {
      objects.create(BuiltInKinds.ENDPOINT_SLICE, slice);
    }
  }

  private boolean edit(ObjectNode slice) {
    return objects.edit(BuiltInKinds.ENDPOINT_SLICE, slice,
        found -> {
          found.set("endpoints", slice.path("endpoints"));
          found.set("ports", slice.path("ports"));
          ObjectMeta.of(found).set("labels", slice.path("metadata").path("labels"));
        });
  }

  private static Map<String, ObjectNode> slicesOf(ObjectNode endpoints) {
    var slices = new LinkedHashMap<String, ObjectNode>();
    for (var subset : endpoints.path("subsets")) {
      add(slices, endpoints, subset, "addresses", true);
      add(slices, endpoints, subset, "notReadyAddresses", false);
    }
    if (slices.isEmpty()) {
      slice(slices, endpoints, "IPv4", Json.MAPPER.createArrayNode());
    }
    return slices;
  }

  private static void add(Map<String, ObjectNode> slices, ObjectNode endpoints, JsonNode subset,
      String list, boolean ready) {
    for (var address : subset.path(list)) {
      String ip = address.path("ip").asString("");
      var slice = slice(slices, endpoints, ip.contains(":") ? "IPv6" : "IPv4",
          subset.path("ports"));
      var endpoint = slice.withArrayProperty("endpoints").addObject();
      endpoint.putArray("addresses").add(ip);
      endpoint.putObject("conditions").put("ready", ready);
      if (address.has("targetRef")) {
        endpoint.set("targetRef", address.path("targetRef").deepCopy());
      }
    }
  }

  private static ObjectNode slice(Map<String, ObjectNode> slices, ObjectNode endpoints,
      String family, JsonNode ports) {
    // Subsets may differ only in the names of their ports.
    String numbers = ports.valueStream()
        .map(port -> Stream.of(inName(port.path("name").asString("")),
            port.path("port").asString(""))
            .filter(part -> !part.isEmpty()).collect(Collectors.joining("-")))
        .collect(Collectors.joining("-"));
    String name = ObjectMeta.name(endpoints) + "-" + family.charAt(family.length() - 1) + "-"
        + (numbers.isEmpty() ? "0" : numbers);
    return slices.computeIfAbsent(name, _ -> {
      var slice = ControllerWrites.named(BuiltInKinds.ENDPOINT_SLICE,
          ObjectMeta.namespace(endpoints),
          name);
      ObjectMeta.of(slice).set("labels", labels(endpoints));
      slice.put("addressType", family);
      slice.putArray("endpoints");
      slice.set("ports", ports instanceof ArrayNode some
          ? some.deepCopy()
          : Json.MAPPER.createArrayNode());
      return slice;
    });
  }

  /** The name of a port, which in Endpoints can be any text, as a part of a slice's name. */
  private static String inName(String port) {
    return port.isEmpty() || ObjectNames.problemAsLabel(port).isEmpty()
        ? port
        : Integer.toHexString(port.hashCode());
  }

  private static ObjectNode labels(ObjectNode endpoints) {
    var labels = Json.object();
    ObjectMeta.labels(endpoints).forEach(labels::put);
    return labels.put(KnownLabels.SLICE_SERVICE, ObjectMeta.name(endpoints))
        .put(KnownLabels.SLICE_MANAGER, CONTROLLER);
  }
}
