package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The controller that writes the Endpoints of each Service with a selector.
 *
 * <p><b>Threads.</b> One loop.
 *
 * <p><b>Source.</b> {@code pkg/controller/endpoint} of Kubernetes. There, the pods of a Service
 * have different addresses and the same ports. Here, they have the same address and different
 * ports, so each has its own subset.
 */
final class EndpointsController {
  private final ControllerWrites objects;
  private final Function<String, Stream<LocalPod>> pods;
  private final Map<String, ObjectNode> services = new HashMap<>();

  /** @param pods returns the pods that run in a namespace */
  EndpointsController(ControllerWrites objects, Function<String, Stream<LocalPod>> pods) {
    this.objects = objects;
    this.pods = pods;
  }

  void serviceChanged(ApiStoreChange event) {
    var service = event.object();
    var before = services.remove(ObjectMeta.key(service));
    boolean deleted = event.type() == ApiStoreChange.Type.DELETED;
    if (!deleted && !service.at("/spec/selector").isEmpty()) {
      services.put(ObjectMeta.key(service), service);
      objects.create(BuiltInKinds.ENDPOINTS, endpoints(service));
      write(service);
    } else if (deleted && before != null) {
      objects.delete(BuiltInKinds.ENDPOINTS, service);
    }
  }

  /** Writes the Endpoints of a Service again if a user has deleted them. */
  void endpointsChanged(ApiStoreChange event) {
    var service = services.get(ObjectMeta.key(event.object()));
    if (event.type() == ApiStoreChange.Type.DELETED && service != null) {
      objects.create(BuiltInKinds.ENDPOINTS, endpoints(service));
      write(service);
    }
  }

  /** Pods of this template were added or removed, or their readiness has changed. */
  void podsChanged(PodTemplate template) {
    services.values().stream().filter(service -> selects(service, template)).forEach(this::write);
  }

  private static boolean selects(JsonNode service, PodTemplate template) {
    var labels = template.metadata().path("labels");
    return ObjectMeta.namespace(service).equals(template.namespace())
        && service.at("/spec/selector").properties().stream()
            .allMatch(label -> label.getValue().equals(labels.path(label.getKey())));
  }

  private static ObjectNode endpoints(ObjectNode service) {
    var endpoints = ControllerWrites.named(BuiltInKinds.ENDPOINTS, ObjectMeta.namespace(service),
        ObjectMeta.name(service));
    if (service.at("/metadata/labels") instanceof ObjectNode labels) {
      ObjectMeta.of(endpoints).set("labels", labels.deepCopy());
    }
    return endpoints;
  }

  private void write(ObjectNode service) {
    var subsets = Json.MAPPER.createArrayNode();
    pods.apply(ObjectMeta.namespace(service)).filter(pod -> selects(service, pod.template()))
        .forEach(pod -> add(subsets, service, pod));
    objects.edit(BuiltInKinds.ENDPOINTS, service,
        endpoints -> endpoints.set("subsets", subsets));
  }

  private void add(ArrayNode subsets, JsonNode service, LocalPod pod) {
    var object = objects.find(BuiltInKinds.POD, pod.template().namespace(), pod.name());
    if (object == null || !pod.isListed()) {
      return;
    }
    var subset = subsets.addObject();
    subset.putArray(pod.view().ready() ? "addresses" : "notReadyAddresses").addObject()
        .put("ip", PodObjectBuilder.LOOPBACK).putObject("targetRef").put("kind", "Pod")
        .put("name", pod.name()).put("namespace", pod.template().namespace())
        .put("uid", ObjectMeta.uid(object));
    var ports = subset.putArray("ports");
    for (var port : service.at("/spec/ports")) {
      var listed = ports.addObject();
      if (port.has("name")) {
        listed.set("name", port.path("name"));
      }
      if (port.has("appProtocol")) {
        listed.set("appProtocol", port.path("appProtocol"));
      }
      var target = port.has("targetPort") ? port.path("targetPort") : port.path("port");
      listed.put("port", pod.template().port(target, pod.port())).put("protocol",
          port.path("protocol").asString("TCP"));
    }
  }
}
