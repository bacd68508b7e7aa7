package dev.activator.cluster.policy;

import dev.activator.cluster.policy.EndpointSet.Condition;
import dev.activator.cluster.policy.EndpointSet.Member;
import dev.activator.cluster.policy.EndpointSet.Subset;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.Listing;
import dev.activator.revision.Listing.Identity;
import dev.activator.revision.PodListing;
import dev.activator.revision.Protocol;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What all objects of one Service list together: with EndpointSlices the same as its Endpoints would,
 * were they not cut off at a thousand addresses.
 *
 * <p>
 * A pod that is ending is listed only while no other is ready, and only if it still serves.
 *
 * <p>
 * <b>Source.</b> {@code endpointslicecache.go} and {@code topology.go} of kube-proxy, which merge
 * slices and fall back to terminating endpoints in the same way.
 *
 * @param all of one Service
 * @param preferred the address to take of a pod that has one of each family
 */
public record MergedEndpoints(List<EndpointSet> all, IpFamily preferred) {
  public MergedEndpoints {
    all = List.copyOf(all);
  }

  /** What one object says of one address. */
  private record Said(Destination destination, Member member) {
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
   * Those of a revision. One that was made anew under the same name does not inherit what is still
   * listed for the one before it.
   *
   * @param uid of the revision that exists; empty while that is not known
   */
  public static MergedEndpoints of(Collection<EndpointSet> all, String uid, IpFamily preferred) {
    return new MergedEndpoints(all.stream().filter(one -> mayBeOf(one, uid)).toList(), preferred);
  }

  /** Whether it may be of the revision with this uid; true while either does not say. */
  public static boolean mayBeOf(EndpointSet set, String uid) {
    return uid.isEmpty() || set.revisionUid().isEmpty() || set.revisionUid().equals(uid);
  }

  /** The pods, by the protocol of the port. */
  public PodListing pods(RevisionId revision) {
    return new PodListing(revision, listing(Protocol.HTTP1), listing(Protocol.H2C));
  }

  /** The ready addresses, by the protocol of the port. */
  public PublicAddresses activators(RevisionId revision) {
    return new PublicAddresses(revision, hosts(Protocol.HTTP1), hosts(Protocol.H2C));
  }

  private List<String> hosts(Protocol protocol) {
    return in(Condition.READY, settled(protocol)).all().stream().map(Destination::host).toList();
  }

  private Listing listing(Protocol protocol) {
    var said = settled(protocol);
    var ready = in(Condition.READY, said);
    var notReady = in(Condition.NOT_READY, said);
    if (!ready.isEmpty()) {
      return new Listing(ready, notReady, Destinations.NONE, identities(said));
    }
    // An address may have passed from a pod that ends to one that starts.
    var ending = in(Condition.LEAVING, said).minus(notReady);
    return new Listing(ending, notReady, ending, identities(said));
  }

  private static Map<Destination, Identity> identities(List<Said> said) {
    var chosen = new HashMap<Destination, Said>(said.size() * 2);
    for (var one : said) {
      if (one.condition() != Condition.GONE) {
        chosen.merge(one.destination(), one, MergedEndpoints::newer);
      }
    }
    var identities = new HashMap<Destination, Identity>(said.size() * 2);
    chosen.forEach((destination, one) -> {
      var identity = new Identity(one.pod(), one.member().since());
      if (!identity.isUnknown()) {
        identities.put(destination, identity);
      }
    });
    return identities;
  }

  /** An address may have passed from a pod that ends to one that starts. */
  private static Said newer(Said one, Said other) {
    if (one.condition() != other.condition()) {
      return one.condition().compareTo(other.condition()) < 0 ? one : other;
    }
    // Of two slices with the pod always the same, in whatever order they come.
    return one.member().since().compareTo(other.member().since()) < 0 ? other : one;
  }

  private static Destinations in(Condition condition, List<Said> said) {
    return Destinations.of(said.stream().filter(one -> one.condition() == condition)
        .map(Said::destination).toList());
  }

  /** What holds of each address, after all that is said of its pod. */
  private List<Said> settled(Protocol protocol) {
    var pods = new LinkedHashMap<String, List<Said>>();
    for (var set : all) {
      for (var subset : set.subsets()) {
        for (var said : said(subset, protocol)) {
          pods.computeIfAbsent(said.pod(), _ -> new ArrayList<>()).add(said);
        }
      }
    }
    var settled = new ArrayList<Said>();
    pods.forEach((pod, of) -> settled
        .addAll(pod.isEmpty() ? ofOneFamily(of) : ofOnePod(ofOneFamily(of), of)));
    return settled;
  }

  private static List<Said> said(Subset subset, Protocol protocol) {
    var port = subset.ports().on(protocol);
    return port == null
        ? List.of()
        : subset.members().stream()
            .map(member -> new Said(new Destination(member.ip(), port), member)).toList();
  }

  /** Those of the family that is preferred, if there are any. */
  private List<Said> ofOneFamily(List<Said> said) {
    var liked = said.stream().filter(one -> one.family() == preferred).toList();
    return liked.isEmpty() ? said : liked;
  }

  private static List<Said> ofOnePod(List<Said> chosen, List<Said> said) {
    var condition = ofOnePod(said);
    return chosen.stream().map(one -> new Said(one.destination(), new Member(one.pod(),
        one.member().ip(), condition, one.member().since()))).toList();
  }

  /** One object may be behind another: what ends never comes back, and what is ready somewhere is. */
  private static Condition ofOnePod(List<Said> said) {
    for (var condition : List.of(Condition.GONE, Condition.LEAVING, Condition.READY)) {
      if (said.stream().anyMatch(one -> one.condition() == condition)) {
        return condition;
      }
    }
    return Condition.NOT_READY;
  }
}
