package dev.activator.revision;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The destinations that can take a revision's requests now.
 *
 * @param transport how they are reached
 * @param clusterIp the destination of all requests while pods cannot be addressed; else null
 * @param pods the pods that may get requests: those that answer probes, and some that Kubernetes
 *     calls ready. If there is a {@code clusterIp}, these are the ready pods, and only their number
 *     is used
 * @param givenUp whether no destination has accepted connections for so long that requests
 *     should fail instead of waiting
 */
public record HealthyDestinations(RevisionId revision, PodTransport transport,
    @Nullable Destination clusterIp, DestinationSet pods, boolean givenUp) {

  /** Destinations that speak plain HTTP/1.1. */
  public HealthyDestinations(RevisionId revision, @Nullable Destination clusterIp,
      DestinationSet pods) {
    this(revision, PodTransport.PLAIN, clusterIp, pods, false);
  }

  /** Pods that speak plain HTTP/1.1. */
  public static HealthyDestinations pods(RevisionId revision, DestinationSet pods) {
    return new HealthyDestinations(revision, null, pods);
  }

  public static HealthyDestinations givenUp(RevisionId revision) {
    return new HealthyDestinations(revision, PodTransport.PLAIN, null, DestinationSet.NONE, true);
  }

  /** The same destinations, reached in this way. */
  public HealthyDestinations over(PodTransport now) {
    return new HealthyDestinations(revision, now, clusterIp, pods, givenUp);
  }

  /** Whether this has all destinations of {@code before}; false if {@code before} had none. */
  public boolean onlyAddsTo(HealthyDestinations before) {
    return !before.pods.isEmpty() && Objects.equals(clusterIp, before.clusterIp)
        && pods.containsAll(before.pods);
  }
}
