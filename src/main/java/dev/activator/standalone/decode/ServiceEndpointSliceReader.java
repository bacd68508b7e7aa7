package dev.activator.standalone.decode;

import dev.activator.discovery.decode.EndpointSliceReader;
import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.standalone.policy.ActivatorEndpointSlice;
import dev.activator.standalone.policy.ServiceEndpointSlice;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads an EndpointSlice of any Service. A label names the Service. Addresses are read by
 * {@link EndpointSliceReader}.
 */
final class ServiceEndpointSliceReader implements WatchedObjectReader<ServiceEndpointSlice> {
  private static final int LAST_PORT = 65_535;

  private final EndpointSliceReader endpoints = new EndpointSliceReader();
  private final Map<String, Integer> ports = new HashMap<>();

  @Override
  public void field(String name, JsonCursor in) {
    if (!name.equals("ports")) {
      endpoints.field(name, in);
      return;
    }
    for (var _ : in.items()) {
      var port = "";
      int number = 0;
      for (var field : in.fields()) {
        switch (field) {
          case "name" -> port = in.text();
          case "port" -> number = in.count(0);
        }
      }
      if (number >= 1 && number <= LAST_PORT) {
        ports.put(port, number);
      }
    }
  }

  @Override
  public boolean concerns(DecodedMetadata metadata) {
    return !metadata.label(KnownLabels.SLICE_SERVICE).isEmpty();
  }

  @Override
  public @Nullable ServiceEndpointSlice decoded(DecodedMetadata metadata, JsonCursor in) {
    return endpoints.hasNames()
        ? null
        : new ServiceEndpointSlice(
            new RevisionId(metadata.namespace(), metadata.label(KnownLabels.SLICE_SERVICE)),
            ports,
            endpoints.members(), own(metadata));
  }

  private static ServiceEndpointSlice.@Nullable Own own(DecodedMetadata metadata) {
    var of = metadata.annotations().getOrDefault(ActivatorEndpointSlice.SCALED_SERVICE, "");
    return of.isEmpty()
        || !metadata.label(KnownLabels.SLICE_MANAGER).equals(ActivatorEndpointSlice.MANAGER)
            ? null
            : new ServiceEndpointSlice.Own(metadata.name(),
                new RevisionId(metadata.namespace(), of),
                metadata.ownerUid());
  }
}
