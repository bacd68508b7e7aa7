package dev.activator.throttle.policy;

import dev.activator.throttle.policy.DestinationSubset.ActivatorIndex;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The destinations of a revision that may get requests: the healthy ones, except those that are
 * ejected as unreachable. An unreachable destination is ejected briefly, even if it is the last
 * one. It returns sooner if the prober removes and re-adds it. It is taken out after pods were
 * dealt among activators; otherwise two activators would use the same pod.
 *
 * @param ejectedUntilNanos by the loop's clock
 */
public record NonEjectedDestinations(HealthyDestinations healthy, ActivatorIndex activator,
    Map<Destination, Long> ejectedUntilNanos) {
  public NonEjectedDestinations {
    ejectedUntilNanos = Map.copyOf(ejectedUntilNanos);
  }

  public static NonEjectedDestinations initial(RevisionId revision) {
    return new NonEjectedDestinations(HealthyDestinations.pods(revision, DestinationSet.NONE),
        ActivatorIndex.UNKNOWN, Map.of());
  }

  /** Replaces the healthy destinations, and drops the ejections of those that are gone. */
  public NonEjectedDestinations withHealthy(HealthyDestinations now) {
    var clusterIp = now.clusterIp();
    var listed = clusterIp == null ? now.pods() : DestinationSet.of(clusterIp);
    var ejected = new HashMap<>(ejectedUntilNanos);
    ejected.keySet().removeIf(Predicate.not(listed::contains));
    return new NonEjectedDestinations(now, activator, ejected);
  }

  /** @param addresses sorted as text */
  public NonEjectedDestinations withActivators(List<String> addresses, String own) {
    return new NonEjectedDestinations(healthy, activator.after(addresses, own), ejectedUntilNanos);
  }

  /**
   * The same destinations without shares, for activators that lend permits: each may use all pods.
   */
  public NonEjectedDestinations undivided() {
    return new NonEjectedDestinations(healthy, ActivatorIndex.UNKNOWN, ejectedUntilNanos);
  }

  public NonEjectedDestinations eject(Destination destination, long untilNanos) {
    var ejected = new HashMap<>(ejectedUntilNanos);
    ejected.put(destination, untilNanos);
    return new NonEjectedDestinations(healthy, activator, ejected);
  }

  public Set<Destination> ejected(long nowNanos) {
    var ejected = new TreeSet<Destination>();
    ejectedUntilNanos.forEach((destination, until) -> {
      if (until - nowNanos > 0) {
        ejected.add(destination);
      }
    });
    return ejected;
  }

  /** The pods behind the ClusterIP; empty if pods are addressed directly. */
  public DestinationSet podsBehindClusterIp() {
    return healthy.clusterIp() == null ? DestinationSet.NONE : healthy.pods();
  }

  /**
   * This activator's pods, with ejected ones; null if it sends requests to a ClusterIP.
   *
   * @param subset as {@link #subset} returns it for this limit
   */
  public @Nullable List<Destination> choosable(int containerConcurrency, DestinationSubset subset) {
    if (healthy.clusterIp() != null) {
      return null;
    }
    return ejectedUntilNanos.isEmpty()
        ? subset.destinations()
        : DestinationSubset.of(healthy, activator, containerConcurrency).destinations();
  }

  public DestinationSubset subset(int containerConcurrency, long nowNanos) {
    var all = DestinationSubset.of(healthy, activator, containerConcurrency);
    return ejectedUntilNanos.isEmpty() ? all : all.without(ejected(nowNanos));
  }
}
