package dev.activator.cluster.decode;

import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.Listing;
import dev.activator.revision.PodListing;
import dev.activator.revision.Protocol;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an Endpoints object says of a revision. An address that is none is left out, with a remark;
 * one that is listed twice counts once.
 *
 * <p>
 * <b>Source.</b> {@code endpointsToDests} in Knative's {@code revision_backends.go}.
 */
public final class EndpointsReader {
  private static final String OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";
  private static final String TRUNCATED = "truncated";

  private final Field object;
  private final List<String> remarks;

  private EndpointsReader(Field object, List<String> remarks) {
    this.object = object;
    this.remarks = remarks;
  }

  /** What it says, or null if it is none of a revision's. */
  public static @Nullable Addresses read(Field object, List<String> remarks) {
    var owner = Labels.ownerOf(object);
    if (owner == null) {
      return null;
    }
    var reader = new EndpointsReader(object, remarks);
    return switch (owner.role()) {
      case PODS -> new Addresses.OfPods(reader.pods(owner.revision()));
      case ACTIVATORS -> new Addresses.OfActivators(reader.activators(owner.revision()));
    };
  }

  private PodListing pods(RevisionId revision) {
    remarkOnWhatIsMissing();
    return new PodListing(revision, listing(Protocol.HTTP1), listing(Protocol.H2C));
  }

  private void remarkOnWhatIsMissing() {
    var annotations = object.at("metadata").at("annotations");
    if (annotations.at(OVER_CAPACITY).textOrEmpty().equals(TRUNCATED)) {
      remarks.add("all but 1,000 of its addresses, as " + OVER_CAPACITY + " says; EndpointSlices"
          + " have them all (activator.endpoints-source)");
    }
    for (var subset : object.at("subsets").items()) {
      boolean hasAddresses = !subset.at("addresses").items().isEmpty()
          || !subset.at("notReadyAddresses").items().isEmpty();
      if (hasAddresses && Ports.isNone(subset.at("ports"))) {
        remarks.add(Ports.noneOf(subset.path() + ".ports"));
      }
    }
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
    var host = IpText.address(ip, remarks);
    if (host != null) {
      found.add(new Destination(host, port));
    }
  }
}
