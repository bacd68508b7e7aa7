package dev.activator.cluster.decode;

import dev.activator.cluster.policy.EndpointsObject.Ports;
import dev.activator.revision.ChildName;
import dev.activator.revision.ClusterIp;
import dev.activator.revision.Destination;
import org.jspecify.annotations.Nullable;

/**
 * Reads the address of a private Service; {@code None} counts as no address.
 *
 * <p><b>Source.</b> Knative's {@code getDest}.
 */
final class ServiceReader implements FactReader<ClusterIp> {
  private static final String HEADLESS = "None";

  private @Nullable String ip;
  private Ports ports = Ports.NONE;

  @Override
  public void field(String name, JsonCursor in) {
    if (name.equals("spec")) {
      for (var field : in.fields()) {
        switch (field) {
          case "clusterIP" -> ip = address(in);
          case "ports" -> ports = AddressReader.ports(in);
        }
      }
    }
  }

  private static @Nullable String address(JsonCursor in) {
    var text = in.text();
    return text.isEmpty() || text.equals(HEADLESS) ? null : AddressReader.ip(in);
  }

  @Override
  public boolean concerns(Metadata metadata) {
    var revision = RevisionLabels.revisionOf(metadata);
    return revision != null && metadata.name().equals(ChildName.ofPrivateService(revision.name()))
        && metadata.label(RevisionLabels.SERVICE_TYPE).equals(RevisionLabels.PRIVATE);
  }

  @Override
  public @Nullable ClusterIp fact(Metadata metadata, JsonCursor in) {
    var revision = RevisionLabels.revisionOf(metadata);
    return revision == null
        ? null
        : new ClusterIp(revision, destination(ports.http1()), destination(ports.h2c()));
  }

  private @Nullable Destination destination(@Nullable Integer port) {
    return ip == null || port == null ? null : new Destination(ip, port);
  }
}
