package dev.activator.cluster.decode;

import dev.activator.cluster.policy.Slice;
import dev.activator.cluster.policy.Slice.Condition;
import dev.activator.cluster.policy.Slice.Member;
import dev.activator.cluster.policy.Slice.Owner;
import dev.activator.revision.ChildName;
import dev.activator.revision.Protocol;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an EndpointSlice says of a revision. An address that is none is left out, with a remark.
 *
 * <p>
 * <b>Source.</b> {@code k8s.io/api/discovery/v1/types.go}. Of several addresses of an endpoint only
 * the first counts: they are the same pod's.
 */
public final class EndpointSliceReader {
  private static final String FQDN = "FQDN";

  private final Field object;
  private final List<String> remarks;

  private EndpointSliceReader(Field object, List<String> remarks) {
    this.object = object;
    this.remarks = remarks;
  }

  /** What it says, or null if it is none of a revision's. */
  public static @Nullable Slice read(Field object, List<String> remarks) {
    var owner = Labels.ownerOf(object);
    if (owner == null || isAnothers(object, owner)) {
      return null;
    }
    if (object.at("addressType").textOrEmpty().equals(FQDN)) {
      remarks.add("addressType FQDN: its addresses are names");
      return null;
    }
    var reader = new EndpointSliceReader(object, remarks);
    var metadata = object.at("metadata");
    return new Slice(metadata.at("name").text(), owner,
        metadata.at("labels").at(Labels.REVISION_UID).textOrEmpty(), reader.ports(),
        reader.members());
  }

  /** Whether its Service is another than the one whose labels it has. */
  private static boolean isAnothers(Field object, Owner owner) {
    var service = object.at("metadata").at("labels").at(Labels.SERVICE_NAME).textOrEmpty();
    var name = owner.revision().name();
    return !service.isEmpty() && !service.equals(switch (owner.role()) {
      case PODS -> ChildName.ofPrivateService(name);
      case ACTIVATORS -> name;
    });
  }

  private Slice.Ports ports() {
    var ports = object.at("ports");
    var found = new Slice.Ports(Ports.ofSlice(Protocol.HTTP1.portName(), ports),
        Ports.ofSlice(Protocol.H2C.portName(), ports));
    if (found.isNone() && !object.at("endpoints").items().isEmpty()) {
      remarks.add(Ports.noneOf("ports"));
    }
    return found;
  }

  private List<Member> members() {
    var members = new ArrayList<Member>();
    for (var endpoint : object.at("endpoints").items()) {
      var addresses = endpoint.at("addresses").items();
      if (addresses.isEmpty()) {
        remarks.add(endpoint.path() + ".addresses is empty");
      } else {
        add(members, endpoint, addresses.getFirst());
      }
    }
    return members;
  }

  private void add(List<Member> members, Field endpoint, Field address) {
    var ip = IpText.address(address, remarks);
    if (ip != null) {
      members.add(new Member(pod(endpoint), ip, condition(endpoint.at("conditions"))));
    }
  }

  private static String pod(Field endpoint) {
    var target = endpoint.at("targetRef");
    var uid = target.at("uid").textOrEmpty();
    return uid.isEmpty() ? target.at("name").textOrEmpty() : uid;
  }

  private static Condition condition(Field conditions) {
    return Condition.of(conditions.at("ready").truth(), conditions.at("serving").truth(),
        conditions.at("terminating").truth());
  }
}
