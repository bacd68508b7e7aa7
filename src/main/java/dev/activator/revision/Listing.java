package dev.activator.revision;

/**
 * The pods Kubernetes lists for a revision on one of its ports.
 *
 * @param ready those it calls ready
 * @param notReady those it does not, or not yet; none of {@code ready}
 */
public record Listing(Destinations ready, Destinations notReady) {
  public static final Listing NONE = new Listing(Destinations.NONE, Destinations.NONE);

  public Listing {
    notReady = notReady.minus(ready);
  }

  public Destinations all() {
    return ready.plus(notReady);
  }
}
