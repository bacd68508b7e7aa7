package dev.activator.revision;

import java.util.Map;
import java.util.stream.Collectors;

/**
 * The pods Kubernetes lists for a revision on one of its ports.
 *
 * @param ready those it calls ready
 * @param notReady those it does not, or not yet; none of {@code ready}
 * @param ending those of {@code ready} that terminate: used only while no other pod serves
 * @param uids which pod has the address, where that is known: an address may pass to another one
 */
public record Listing(Destinations ready, Destinations notReady, Destinations ending,
    Map<Destination, String> uids) {
  public static final Listing NONE = new Listing(Destinations.NONE, Destinations.NONE);

  public Listing {
    notReady = notReady.minus(ready);
    ending = ending.intersect(ready);
    var all = ready.plus(notReady);
    uids = uids.entrySet().stream().filter(one -> all.contains(one.getKey()))
        .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
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
