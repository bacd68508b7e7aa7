package dev.activator.throttle.policy;

import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionId;
import java.util.List;

/**
 * What is known of where a revision's requests can go.
 *
 * @param healthy where they can, as the prober says
 * @param activator which of the activators this one is
 * @param aside where they nevertheless do not go at this moment
 */
public record Routing(HealthyDestinations healthy, ActivatorIndex activator, SetAside aside) {
  /** Nothing is known. */
  public static Routing initial(RevisionId revision) {
    return new Routing(HealthyDestinations.pods(revision, Destinations.NONE),
        ActivatorIndex.UNKNOWN, SetAside.NONE);
  }

  /** The prober says so now. */
  public Routing listed(HealthyDestinations now) {
    var clusterIp = now.clusterIp();
    var listed = clusterIp == null ? now.pods() : Destinations.of(clusterIp);
    return new Routing(now, activator, aside.amongst(listed));
  }

  /** These activators are in the revision's path now, sorted as text. */
  public Routing among(List<String> addresses, String own) {
    return new Routing(healthy, activator.after(addresses, own), aside);
  }

  /** This one could not be reached, and is left alone until then. */
  public Routing unreachable(Destination destination, long untilNanos) {
    return new Routing(healthy, activator, aside.with(destination, untilNanos));
  }

  /** Where requests go at this time. */
  public Subset subset(int containerConcurrency, long nowNanos) {
    return Subset.of(healthy, activator, containerConcurrency).without(aside.at(nowNanos));
  }
}
