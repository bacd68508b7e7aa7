package dev.activator.revision;

/**
 * The pods Kubernetes lists for a revision on one of its ports.
 *
 * @param ready those it calls ready
 * @param notReady those it does not, or not yet; none of {@code ready}
 * @param ending those of {@code ready} that terminate: used only while no other pod serves
 */
public record Listing(Destinations ready, Destinations notReady, Destinations ending) {
  public static final Listing NONE = new Listing(Destinations.NONE, Destinations.NONE);

  public Listing {
    notReady = notReady.minus(ready);
    ending = ending.intersect(ready);
  }

  /** Without pods that terminate. */
  public Listing(Destinations ready, Destinations notReady) {
    this(ready, notReady, Destinations.NONE);
  }

  public Destinations all() {
    return ready.plus(notReady);
  }
}
