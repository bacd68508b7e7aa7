package dev.activator.discovery.decode;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.discovery.policy.RevisionEndpointSlice.Condition;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.discovery.policy.RevisionEndpointSlice.Owner;
import dev.activator.discovery.policy.RevisionEndpointSlice.Ports;
import dev.activator.discovery.policy.RevisionEndpointSlice.Subset;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.revision.ChildName;
import dev.activator.revision.KnownLabels;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads an EndpointSlice. Invalid addresses are ignored, with a remark.
 *
 * <p><b>Source.</b> {@code k8s.io/api/discovery/v1/types.go}: all addresses of an endpoint belong
 * to one pod, so only the first is read.
 */
public final class EndpointSliceReader implements WatchedObjectReader<RevisionEndpointSlice> {
  private static final String FQDN = "FQDN";

  private final List<Member> members = new ArrayList<>();
  private int endpoints;
  private boolean hasNames;
  private Ports ports = Ports.NONE;

  @Override
  public void field(String name, JsonCursor in) {
    switch (name) {
      case "addressType" -> hasNames = in.text().equals(FQDN);
      case "ports" -> ports = EndpointAddressReader.ports(in);
      case "endpoints" -> {
        for (var _ : in.items()) {
          endpoint(in);
          endpoints++;
        }
      }
    }
  }

  private void endpoint(JsonCursor in) {
    var pod = "";
    var condition = Condition.READY;
    String ip = null;
    boolean hasAddress = false;
    for (var field : in.fields()) {
      switch (field) {
        case "addresses" -> {
          for (var _ : in.items()) {
            ip = hasAddress ? ip : EndpointAddressReader.ip(in);
            hasAddress = true;
          }
        }
        case "conditions" -> condition = condition(in);
        case "targetRef" -> pod = EndpointAddressReader.pod(in);
      }
    }
    if (!hasAddress) {
      in.remark("endpoints[" + endpoints + "].addresses is empty");
    }
    if (ip != null) {
      members.add(new Member(pod, ip, condition));
    }
  }

  private static Condition condition(JsonCursor in) {
    Boolean ready = null;
    Boolean serving = null;
    Boolean terminating = null;
    for (var field : in.fields()) {
      switch (field) {
        case "ready" -> ready = in.truth();
        case "serving" -> serving = in.truth();
        case "terminating" -> terminating = in.truth();
      }
    }
    return Condition.of(ready, serving, terminating);
  }

  /** Whether the slice lists host names instead of addresses. */
  public boolean hasNames() {
    return hasNames;
  }

  public List<Member> members() {
    return members;
  }

  @Override
  public boolean concerns(DecodedMetadata metadata) {
    var owner = RevisionLabelReader.ownerOf(metadata);
    return owner != null && isOf(owner, metadata.label(KnownLabels.SLICE_SERVICE));
  }

  /** Whether the slice belongs to the Service that its labels describe. */
  private static boolean isOf(Owner owner, String service) {
    var name = owner.revision().name();
    return service.isEmpty() || service.equals(switch (owner.role()) {
      case PODS -> ChildName.ofPrivateService(name);
      case ACTIVATORS -> name;
    });
  }

  @Override
  public @Nullable RevisionEndpointSlice decoded(DecodedMetadata metadata, JsonCursor in) {
    var owner = RevisionLabelReader.ownerOf(metadata);
    if (owner == null) {
      return null;
    }
    if (hasNames) {
      in.remarks().clear();
      in.remark("addressType FQDN: its addresses are names");
      return null;
    }
    if (endpoints > 0 && ports.isNone()) {
      in.remark(EndpointAddressReader.noneOf("ports"));
    }
    return new RevisionEndpointSlice(owner, metadata.label(KnownLabels.REVISION_UID),
        List.of(new Subset(ports, members)));
  }
}
