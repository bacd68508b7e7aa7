package dev.activator.discovery.decode;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.discovery.policy.RevisionEndpointSlice.Ports;
import dev.activator.revision.ChildName;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.KnownLabels;
import org.jspecify.annotations.Nullable;

/**
 * Reads the ClusterIP of a revision's private Service. {@code None} counts as no address.
 *
 * <p><b>Source.</b> Knative's {@code getDest}.
 */
final class ClusterIpReader implements WatchedObjectReader<PrivateClusterIp> {
  private static final String HEADLESS = "None";

  private @Nullable String ip;
  private Ports ports = Ports.NONE;

  @Override
  public void field(String name, JsonCursor in) {
    if (name.equals("spec")) {
      for (var field : in.fields()) {
        switch (field) {
          case "clusterIP" -> ip = address(in);
          case "ports" -> ports = EndpointAddressReader.ports(in);
        }
      }
    }
  }

  private static @Nullable String address(JsonCursor in) {
    var text = in.text();
    return text.isEmpty() || text.equals(HEADLESS) ? null : EndpointAddressReader.ip(in);
  }

  @Override
  public boolean concerns(DecodedMetadata metadata) {
    var revision = RevisionLabelReader.revisionOf(metadata);
    return revision != null && metadata.name().equals(ChildName.ofPrivateService(revision.name()))
        && metadata.label(KnownLabels.SERVICE_TYPE).equals(KnownLabels.PRIVATE);
  }

  @Override
  public @Nullable PrivateClusterIp decoded(DecodedMetadata metadata, JsonCursor in) {
    var revision = RevisionLabelReader.revisionOf(metadata);
    return revision == null
        ? null
        : new PrivateClusterIp(revision, destination(ports.http1()), destination(ports.h2c()));
  }

  private @Nullable Destination destination(@Nullable Integer port) {
    return ip == null || port == null ? null : new Destination(ip, port);
  }
}
