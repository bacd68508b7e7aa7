package dev.activator.revision;

import java.util.Map;
import java.util.stream.Collectors;

/**
 * The pods Kubernetes lists for a revision on one of its ports.
 *
 * @param ready those it calls ready
 * @param notReady those it does not, or not yet; none of {@code ready}
 * @param ending those of {@code ready} that terminate: used only while no other pod serves
 * @param identities of the pods, where they are known: an address may pass to another pod
 */
public record Listing(Destinations ready, Destinations notReady, Destinations ending,
    Map<Destination, Identity> identities) {
  public static final Listing NONE = new Listing(Destinations.NONE, Destinations.NONE);

  public Listing {
    notReady = notReady.minus(ready);
    ending = ending.intersect(ready);
    var all = ready.plus(notReady);
    identities = identities.entrySet().stream().filter(one -> all.contains(one.getKey()))
        .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  /**
   * The pod behind an address.
   *
   * @param uid of the pod; empty if unknown
   * @param since the resourceVersion in which the address appeared, became ready or became not
   *     ready, whichever was last; empty if unknown. Where it differs between two listings, the
   *     pod's readiness has changed in between, even if both call it ready.
   */
  public record Identity(String uid, String since) {
    public boolean isUnknown() {
      return uid.isEmpty() && since.isEmpty();
    }
  }

  /** Where nothing says which pod has an address. */
  public Listing(Destinations ready, Destinations notReady, Destinations ending) {
    this(ready, notReady, ending, Map.of());
  }

  /** Without pods that terminate. */
  public Listing(Destinations ready, Destinations notReady) {
    this(ready, notReady, Destinations.NONE);
  }

  public Destinations all() {
    return ready.plus(notReady);
  }
}
