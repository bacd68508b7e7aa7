package dev.activator.discovery.policy;

import dev.activator.kube.policy.IpFamily;
import dev.activator.discovery.policy.RevisionEndpointSlice.Condition;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.discovery.policy.RevisionEndpointSlice.Subset;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness.Identity;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Merges the EndpointSlices, or the Endpoints, of one Service. Terminating pods are included only
 * if they still serve and no other pod is ready. An Endpoints object has at most 1,000 addresses.
 *
 * <p><b>Source.</b> kube-proxy's {@code endpointslicecache.go} and {@code topology.go}.
 *
 * @param preferred the IP family to use for dual-stack pods
 */
public record MergedEndpoints(List<RevisionEndpointSlice> all, IpFamily preferred) {
  public MergedEndpoints {
    all = List.copyOf(all);
  }

  private record ListedAddress(Destination destination, Member member) {
    String pod() {
      return member.pod();
    }

    Condition condition() {
      return member.condition();
    }

    IpFamily family() {
      return IpFamily.of(destination.host());
    }
  }

  /**
   * Merges these objects, without those of an earlier revision with the same name.
   *
   * @param uid the revision's uid; empty while it is unknown
   */
  public static MergedEndpoints of(Collection<RevisionEndpointSlice> all, String uid,
      IpFamily preferred) {
    return new MergedEndpoints(where(all, one -> mayBeOf(one, uid)), preferred);
  }

  /**
   * Whether an object may belong to the revision with this uid: false only if both uids are known
   * and differ.
   */
  public static boolean mayBeOf(RevisionEndpointSlice set, String uid) {
    return uid.isEmpty() || set.revisionUid().isEmpty() || set.revisionUid().equals(uid);
  }

  public PrivateEndpoints pods(RevisionId revision) {
    return new PrivateEndpoints(revision, listing(PortProtocol.HTTP1), listing(PortProtocol.H2C));
  }

  public PublicEndpointAddresses activators(RevisionId revision) {
    return new PublicEndpointAddresses(revision, hosts(PortProtocol.HTTP1),
        hosts(PortProtocol.H2C));
  }

  private List<String> hosts(PortProtocol protocol) {
    return in(Condition.READY, merged(protocol)).all().stream().map(Destination::host).toList();
  }

  private PodsByReadiness listing(PortProtocol protocol) {
    var listed = merged(protocol);
    if (listed.isEmpty()) {
      return PodsByReadiness.NONE;
    }
    var ready = in(Condition.READY, listed);
    var notReady = in(Condition.NOT_READY, listed);
    if (!ready.isEmpty()) {
      return new PodsByReadiness(ready, notReady, DestinationSet.NONE, identities(listed));
    }
    // The address of a terminating pod may already belong to a starting pod.
    var ending = in(Condition.TERMINATING, listed).minus(notReady);
    return new PodsByReadiness(ending, notReady, ending, identities(listed));
  }

  private static Map<Destination, Identity> identities(List<ListedAddress> listed) {
    var chosen = new HashMap<Destination, ListedAddress>(listed.size() * 2);
    for (var one : listed) {
      if (one.condition() != Condition.GONE) {
        chosen.merge(one.destination(), one, MergedEndpoints::preferred);
      }
    }
    var identities = new HashMap<Destination, Identity>(listed.size() * 2);
    chosen.forEach((destination, one) -> {
      var identity = new Identity(one.pod(), one.member().since());
      if (!identity.isUnknown()) {
        identities.put(destination, identity);
      }
    });
    return identities;
  }

  private static ListedAddress preferred(ListedAddress one, ListedAddress other) {
    if (one.condition() != other.condition()) {
      return one.condition().compareTo(other.condition()) < 0 ? one : other;
    }
    // This makes the choice independent of the order of the slices.
    return one.member().since().compareTo(other.member().since()) < 0 ? other : one;
  }

  private static DestinationSet in(Condition condition, List<ListedAddress> listed) {
    var found = new ArrayList<Destination>(listed.size());
    for (var one : listed) {
      if (one.condition() == condition) {
        found.add(one.destination());
      }
    }
    return DestinationSet.of(found);
  }

  private List<ListedAddress> merged(PortProtocol protocol) {
    var pods = new LinkedHashMap<String, List<ListedAddress>>();
    for (var set : all) {
      for (var subset : set.subsets()) {
        for (var listed : listed(subset, protocol)) {
          pods.computeIfAbsent(listed.pod(), _ -> new ArrayList<>()).add(listed);
        }
      }
    }
    var merged = new ArrayList<ListedAddress>();
    pods.forEach((pod, of) -> merged
        .addAll(pod.isEmpty() ? ofOneFamily(of) : ofOnePod(ofOneFamily(of), of)));
    return merged;
  }

  private static List<ListedAddress> listed(Subset subset, PortProtocol protocol) {
    var port = subset.ports().on(protocol);
    if (port == null) {
      return List.of();
    }
    var listed = new ArrayList<ListedAddress>(subset.members().size());
    for (var member : subset.members()) {
      listed.add(new ListedAddress(new Destination(member.ip(), port), member));
    }
    return listed;
  }

  /** The addresses of the preferred family; all addresses if there are none. */
  private List<ListedAddress> ofOneFamily(List<ListedAddress> listed) {
    var matching = where(listed, one -> one.family() == preferred);
    return matching.isEmpty() ? listed : matching;
  }

  private static List<ListedAddress> ofOnePod(List<ListedAddress> chosen,
      List<ListedAddress> listed) {
    var condition = ofOnePod(listed);
    return chosen.stream().map(one -> new ListedAddress(one.destination(), new Member(one.pod(),
        one.member().ip(), condition, one.member().since()))).toList();
  }

  /**
   * The condition of a pod that several objects list, of which one may be older. Termination is
   * final, and a pod that is ready in one object is ready.
   */
  private static Condition ofOnePod(List<ListedAddress> listed) {
    for (var condition : List.of(Condition.GONE, Condition.TERMINATING, Condition.READY)) {
      if (listed.stream().anyMatch(one -> one.condition() == condition)) {
        return condition;
      }
    }
    return Condition.NOT_READY;
  }

  /** A loop, since a stream takes several times as long while its code is interpreted. */
  private static <T> List<T> where(Collection<T> all, Predicate<T> condition) {
    var found = new ArrayList<T>(all.size());
    for (var one : all) {
      if (condition.test(one)) {
        found.add(one);
      }
    }
    return found;
  }
}
