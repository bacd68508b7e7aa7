package dev.activator.revision;

import java.util.HashMap;
import java.util.Map;

/**
 * The pods that a revision's Endpoints list for one port, by their readiness.
 *
 * @param ready the ready pods; if there are none, the terminating pods that still serve
 * @param notReady the other pods; none of them is in {@code ready}
 * @param ending the terminating pods; all of them are in {@code ready}
 * @param identities the identities of the pods, as far as they are known
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
   * The pod behind an address. Both texts are empty if it is unknown.
   *
   * @param since the resourceVersion at which the address appeared or last changed its readiness.
   *     If it differs, the pod was not ready for a time
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

  /** The same pods, none of which is ready. */
  PodsByReadiness unready() {
    return new PodsByReadiness(DestinationSet.NONE, all(), DestinationSet.NONE, identities);
  }

  /** The same pods without the terminating ones. */
  PodsByReadiness withoutEnding() {
    return ending.isEmpty()
        ? this
        : new PodsByReadiness(ready.minus(ending), notReady, DestinationSet.NONE, identities);
  }

  public DestinationSet all() {
    return ready.plus(notReady);
  }
}
