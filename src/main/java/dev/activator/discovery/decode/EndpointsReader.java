package dev.activator.discovery.decode;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.discovery.policy.RevisionEndpointSlice.Condition;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.discovery.policy.RevisionEndpointSlice.Ports;
import dev.activator.discovery.policy.RevisionEndpointSlice.Subset;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads an Endpoints object. Invalid addresses are ignored, with a remark.
 *
 * <p><b>Source.</b> Knative's {@code endpointsToDests}.
 */
final class EndpointsReader implements WatchedObjectReader<RevisionEndpointSlice> {
  private static final String OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";
  private static final String TRUNCATED = "truncated";

  private final List<Subset> subsets = new ArrayList<>(1);

  @Override
  public void field(String name, JsonCursor in) {
    if (name.equals("subsets")) {
      for (var _ : in.items()) {
        subset(in);
      }
    }
  }

  private void subset(JsonCursor in) {
    var members = new ArrayList<Member>();
    boolean hasAddresses = false;
    var ports = Ports.NONE;
    for (var field : in.fields()) {
      switch (field) {
        case "addresses" -> hasAddresses |= addresses(in, Condition.READY, members);
        case "notReadyAddresses" -> hasAddresses |= addresses(in, Condition.NOT_READY, members);
        case "ports" -> ports = EndpointAddressReader.ports(in);
      }
    }
    if (hasAddresses && ports.isNone()) {
      in.remark(EndpointAddressReader.noneOf("subsets[" + subsets.size() + "].ports"));
    }
    subsets.add(new Subset(ports, members));
  }

  private static boolean addresses(JsonCursor in, Condition condition, List<Member> members) {
    boolean any = false;
    for (var _ : in.items()) {
      any = true;
      address(in, condition, members);
    }
    return any;
  }

  private static void address(JsonCursor in, Condition condition, List<Member> members) {
    String ip = null;
    boolean hasIp = false;
    var pod = "";
    for (var field : in.fields()) {
      switch (field) {
        case "ip" -> {
          hasIp = true;
          ip = EndpointAddressReader.ip(in);
        }
        case "targetRef" -> pod = EndpointAddressReader.pod(in);
      }
    }
    if (!hasIp) {
      in.remark(in.path() + ".ip is missing");
    }
    if (ip != null) {
      members.add(new Member(pod, ip, condition));
    }
  }

  @Override
  public boolean concerns(DecodedMetadata metadata) {
    return RevisionLabelReader.ownerOf(metadata) != null;
  }

  @Override
  public @Nullable RevisionEndpointSlice decoded(DecodedMetadata metadata, JsonCursor in) {
    var owner = RevisionLabelReader.ownerOf(metadata);
    if (owner == null) {
      return null;
    }
    if (TRUNCATED.equals(metadata.annotations().get(OVER_CAPACITY))) {
      in.remark("all but 1,000 of its addresses, as " + OVER_CAPACITY + " says; EndpointSlices"
          + " have them all (activator.endpoints-source)");
    }
    return new RevisionEndpointSlice(owner, "", subsets);
  }
}
