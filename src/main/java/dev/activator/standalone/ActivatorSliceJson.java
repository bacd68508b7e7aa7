package dev.activator.standalone;

import dev.activator.standalone.policy.ActivatorEndpointSlice;
import dev.activator.kube.policy.IpFamily;
import dev.activator.revision.KnownLabels;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** The EndpointSlices of activators as Kubernetes' API has them. */
final class ActivatorSliceJson {
  private static final JsonMapper JSON = new JsonMapper();

  private ActivatorSliceJson() {}

  /** The reason why the slice with this name is not ours; null if it is. */
  static @Nullable String problemOf(ActivatorEndpointSlice slice, byte[] list) {
    try {
      var items = JSON.readTree(list).path("items");
      if (items.isEmpty()) {
        return "EndpointSlice " + slice.name() + " existed a moment ago";
      }
      var metadata = items.path(0).path("metadata");
      var manager = metadata.path("labels").path(KnownLabels.SLICE_MANAGER).asString("");
      var of = metadata.path("annotations").path(ActivatorEndpointSlice.SCALED_SERVICE)
          .asString("");
      if (manager.equals(ActivatorEndpointSlice.MANAGER) && of.equals(slice.of().name())) {
        return null;
      }
      return "EndpointSlice " + slice.name() + " belongs to " + (of.isEmpty()
          ? manager.isEmpty() ? "no activator" : manager
          : "ScaledService " + of);
    } catch (JacksonException e) {
      return "EndpointSlice " + slice.name() + " cannot be read: " + e.getOriginalMessage();
    }
  }

  static String of(ActivatorEndpointSlice slice) {
    var object = JSON.createObjectNode();
    object.put("apiVersion", "discovery.k8s.io/v1").put("kind", "EndpointSlice");
    var metadata = object.putObject("metadata");
    metadata.put("name", slice.name()).put("namespace", slice.of().namespace());
    metadata.putObject("labels").put(KnownLabels.SLICE_SERVICE, slice.service())
        .put(KnownLabels.SLICE_MANAGER, ActivatorEndpointSlice.MANAGER);
    metadata.putObject("annotations").put(ActivatorEndpointSlice.SCALED_SERVICE, slice.of().name());
    metadata.putArray("ownerReferences").addObject().put("apiVersion", "activator.dev/v1alpha1")
        .put("kind", "ScaledService").put("name", slice.of().name()).put("uid", slice.uid());
    object.put("addressType", slice.family() == IpFamily.IPV6 ? "IPv6" : "IPv4");
    var endpoints = object.putArray("endpoints");
    for (var address : slice.addresses()) {
      var endpoint = endpoints.addObject();
      endpoint.putArray("addresses").add(address);
      // Traefik sends nothing to an endpoint without these conditions.
      endpoint.putObject("conditions").put("ready", true).put("serving", true)
          .put("terminating", false);
    }
    var ports = object.putArray("ports");
    new TreeMap<>(slice.ports()).forEach((name, number) -> ports.addObject().put("name", name)
        .put("port", number).put("protocol", "TCP"));
    return object.toString();
  }
}
