package dev.activator.cluster;

import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.Listing;
import dev.activator.revision.PodListing;
import dev.activator.revision.Protocol;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.RevisionId;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What an Endpoints object says of a revision. An address that is none is left out, with a remark;
 * one that is listed twice counts once.
 *
 * <p>
 * <b>Source.</b> {@code endpointsToDests} in Knative's {@code revision_backends.go}.
 */
final class EndpointsReader {
  private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");

  private final Field object;
  private final List<String> remarks;

  private EndpointsReader(Field object, List<String> remarks) {
    this.object = object;
    this.remarks = remarks;
  }

  /** What it says, or null if it is none of a revision's. */
  static @Nullable Addresses read(Field object, List<String> remarks) {
    var revision = Labels.revisionOf(object);
    if (revision == null) {
      return null;
    }
    var labels = object.at("metadata").at("labels");
    var reader = new EndpointsReader(object, remarks);
    return switch (labels.at(Labels.SERVICE_TYPE).textOrEmpty()) {
      case Labels.PRIVATE -> labels.at(Labels.REVISION_UID).isAbsent()
          ? null
          : new Addresses.OfPods(reader.pods(revision));
      case Labels.PUBLIC -> new Addresses.OfActivators(reader.activators(revision));
      default -> null;
    };
  }

  private PodListing pods(RevisionId revision) {
    return new PodListing(revision, listing(Protocol.HTTP1), listing(Protocol.H2C));
  }

  private Listing listing(Protocol protocol) {
    return new Listing(Destinations.of(destinations(protocol, "addresses")),
        Destinations.of(destinations(protocol, "notReadyAddresses")));
  }

  private PublicAddresses activators(RevisionId revision) {
    return new PublicAddresses(revision, hosts(Protocol.HTTP1), hosts(Protocol.H2C));
  }

  private List<String> hosts(Protocol protocol) {
    return destinations(protocol, "addresses").stream().map(Destination::host).toList();
  }

  private List<Destination> destinations(Protocol protocol, String list) {
    var found = new ArrayList<Destination>();
    for (var subset : object.at("subsets").items()) {
      var port = Ports.named(protocol.portName(), subset.at("ports"));
      if (port != null) {
        subset.at(list).items().forEach(address -> add(found, address.at("ip"), port));
      }
    }
    return found;
  }

  private void add(List<Destination> found, Field ip, int port) {
    var host = ip.textOrEmpty();
    if (isIp(host)) {
      found.add(new Destination(host, port));
    } else {
      remarks.add(ip.path() + " is no IP address: '" + host + "'");
    }
  }

  private static boolean isIp(String text) {
    try {
      // Neither of the two looks a name up. IPv4 is checked first: "1" is an address to the JDK.
      return IPV4.matcher(text).matches()
          ? InetAddress.ofLiteral(text) != null
          : text.contains(":") && !text.contains("%") && Inet6Address.ofLiteral(text) != null;
    } catch (IllegalArgumentException no) {
      return false;
    }
  }
}
