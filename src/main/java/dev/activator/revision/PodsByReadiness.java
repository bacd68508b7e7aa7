package dev.activator.revision;

import java.util.HashMap;
import java.util.Map;

/**
 * A revision's pods in its Endpoints, on one port.
 *
 * @param notReady none of {@code ready}
 * @param ending those of {@code ready} that terminate: used only while no other pod serves
 * @param identities where known
 */
public record PodsByReadiness(DestinationSet ready, DestinationSet notReady, DestinationSet ending,
    Map<Destination, Identity> identities) {
  public static final PodsByReadiness NONE = new PodsByReadiness(DestinationSet.NONE,
      DestinationSet.NONE);

  public PodsByReadiness {
    notReady = notReady.minus(ready);
    ending = ending.intersect(ready);
    identities = of(identities, ready, notReady);
  }

  private static Map<Destination, Identity> of(Map<Destination, Identity> all, DestinationSet ready,
      DestinationSet notReady) {
    var listed = new HashMap<>(all);
    listed.keySet().removeIf(pod -> !ready.contains(pod) && !notReady.contains(pod));
    return Map.copyOf(listed.size() == all.size() ? all : listed);
  }

  /**
   * The pod behind an address; both empty if unknown.
   *
   * @param since the resourceVersion at which the address appeared or last changed its readiness: a
   *     pod with another one was not ready in between
   */
  public record Identity(String uid, String since) {
    public boolean isUnknown() {
      return uid.isEmpty() && since.isEmpty();
    }
  }

  public PodsByReadiness(DestinationSet ready, DestinationSet notReady, DestinationSet ending) {
    this(ready, notReady, ending, Map.of());
  }

  public PodsByReadiness(DestinationSet ready, DestinationSet notReady) {
    this(ready, notReady, DestinationSet.NONE);
  }

  public DestinationSet all() {
    return ready.plus(notReady);
  }
}
