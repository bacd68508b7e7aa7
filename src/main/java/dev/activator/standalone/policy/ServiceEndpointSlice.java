package dev.activator.standalone.policy;

import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.policy.IpFamily;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.discovery.policy.RevisionEndpointSlice.Owner;
import dev.activator.discovery.policy.RevisionEndpointSlice.Ports;
import dev.activator.discovery.policy.RevisionEndpointSlice.Role;
import dev.activator.discovery.policy.RevisionEndpointSlice.Subset;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One EndpointSlice of a Service that need not be Knative's.
 *
 * @param service the namespace and name of the Service
 * @param ports the pods' ports, by the names of the Service's ports
 * @param own null unless an activator has written the slice
 */
public record ServiceEndpointSlice(RevisionId service, Map<String, Integer> ports,
    List<Member> members,
    @Nullable Own own) {
  /**
   * The origin of a slice that an activator has written. Such a slice lists activators, not pods.
   *
   * @param name the name of the slice
   * @param of the ScaledService
   * @param uid the uid of the slice's owner
   */
  public record Own(String name, RevisionId of, String uid) {}

  public ServiceEndpointSlice {
    ports = Map.copyOf(ports);
    members = List.copyOf(members);
  }

  /**
   * A copy with {@code since} set for each address. This is computed in the store, because handlers
   * do not see every version.
   */
  public ServiceEndpointSlice after(@Nullable ServiceEndpointSlice before, String version) {
    var set = set(service, Ports.NONE)
        .after(before == null ? null : before.set(service, Ports.NONE), version);
    return new ServiceEndpointSlice(service, ports, set.subsets().getFirst().members(), own);
  }

  /** The addresses with one of the ports, which is used for both protocols. */
  public RevisionEndpointSlice on(String port, RevisionId revision) {
    var number = ports.get(port);
    return set(revision, new Ports(number, number));
  }

  /** The slice in the form in which activators write it, to compare it. */
  public ActivatorEndpointSlice caught(RevisionId of) {
    var first = members.isEmpty() ? "" : members.getFirst().ip();
    return new ActivatorEndpointSlice(of, own == null ? "" : own.uid, service.name(),
        IpFamily.of(first),
        ports,
        members.stream().filter(one -> one.condition() == RevisionEndpointSlice.Condition.READY)
            .map(Member::ip).toList());
  }

  /** The ready addresses of this family. */
  public Stream<String> ready(IpFamily family) {
    return members.stream().filter(one -> one.condition() == RevisionEndpointSlice.Condition.READY)
        .map(Member::ip).filter(ip -> IpFamily.of(ip) == family);
  }

  private RevisionEndpointSlice set(RevisionId revision, Ports of) {
    return new RevisionEndpointSlice(new Owner(revision, Role.PODS), "",
        List.of(new Subset(of, members)));
  }
}
