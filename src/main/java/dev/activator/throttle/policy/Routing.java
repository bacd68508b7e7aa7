package dev.activator.throttle.policy;

import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Where a revision's requests can go, as far as is known.
 *
 * <p>
 * A destination that could not be reached is ejected for a moment, even the last one. It returns
 * sooner if the prober removes it and finds it healthy again.
 *
 * @param healthy what the prober says
 * @param activator which of the activators this one is
 * @param ejectedUntilNanos when each ejected destination comes back, by the loop's clock
 */
public record Routing(HealthyDestinations healthy, ActivatorIndex activator,
    Map<Destination, Long> ejectedUntilNanos) {
  public Routing {
    ejectedUntilNanos = Map.copyOf(ejectedUntilNanos);
  }

  /** Nothing is known. */
  public static Routing initial(RevisionId revision) {
    return new Routing(HealthyDestinations.pods(revision, Destinations.NONE),
        ActivatorIndex.UNKNOWN, Map.of());
  }

  /** The prober's latest result. An ejected destination that is not in it is not ejected any more. */
  public Routing withHealthy(HealthyDestinations now) {
    var clusterIp = now.clusterIp();
    var listed = clusterIp == null ? now.pods() : Destinations.of(clusterIp);
    var ejected = new HashMap<>(ejectedUntilNanos);
    ejected.keySet().removeIf(Predicate.not(listed::contains));
    return new Routing(now, activator, ejected);
  }

  /** These activators are in the revision's path now, sorted as text. */
  public Routing withActivators(List<String> addresses, String own) {
    return new Routing(healthy, activator.after(addresses, own), ejectedUntilNanos);
  }

  /** A destination could not be reached, and is ejected until then. */
  public Routing eject(Destination destination, long untilNanos) {
    var ejected = new HashMap<>(ejectedUntilNanos);
    ejected.put(destination, untilNanos);
    return new Routing(healthy, activator, ejected);
  }

  /** The destinations that are still ejected at this time, in order. */
  public Set<Destination> ejected(long nowNanos) {
    var ejected = new TreeSet<Destination>();
    ejectedUntilNanos.forEach((destination, until) -> {
      if (until - nowNanos > 0) {
        ejected.add(destination);
      }
    });
    return ejected;
  }

  /** The ready pods behind the ClusterIP; none where pods are addressed. */
  public Destinations podsBehindClusterIp() {
    return healthy.clusterIp() == null ? Destinations.NONE : healthy.pods();
  }

  /** Where requests go at this time. */
  public Subset subset(int containerConcurrency, long nowNanos) {
    return Subset.of(healthy, activator, containerConcurrency).without(ejected(nowNanos));
  }
}
