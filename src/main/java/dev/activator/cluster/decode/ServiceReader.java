package dev.activator.cluster.decode;

import dev.activator.revision.ClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.ChildName;
import dev.activator.revision.Protocol;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The ClusterIP of a revision's private Service.
 *
 * <p>
 * <b>Source.</b> {@code getDest} in Knative's {@code revision_backends.go}, which finds the Service
 * by its name; {@code None} means what no address means.
 */
final class ServiceReader {
  private static final String HEADLESS = "None";

  private ServiceReader() {}

  /** What it says, or null if it is not a revision's private Service. */
  static @Nullable ClusterIp read(Field object, List<String> remarks) {
    var metadata = object.at("metadata");
    var revision = Labels.revisionOf(object);
    if (revision == null
        || !metadata.at("name").text().equals(ChildName.ofPrivateService(revision.name()))
        || !metadata.at("labels").at(Labels.SERVICE_TYPE).textOrEmpty().equals(Labels.PRIVATE)) {
      return null;
    }
    var spec = object.at("spec");
    var ip = address(spec.at("clusterIP"), remarks);
    return ip == null
        ? new ClusterIp(revision, null, null)
        : new ClusterIp(revision, destination(ip, spec, Protocol.HTTP1),
            destination(ip, spec, Protocol.H2C));
  }

  private static @Nullable String address(Field clusterIp, List<String> remarks) {
    var ip = clusterIp.textOrEmpty();
    return ip.isEmpty() || ip.equals(HEADLESS) ? null : IpText.address(clusterIp, remarks);
  }

  private static @Nullable Destination destination(String ip, Field spec, Protocol protocol) {
    var port = Ports.named(protocol.portName(), spec.at("ports"));
    return port == null ? null : new Destination(ip, port);
  }
}
