package dev.activator.revision;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The destinations that can take a revision's requests now.
 *
 * @param clusterIp the destination of all requests while pods cannot be addressed; else null
 * @param pods the pods that may get requests: those that answer probes, and some that Kubernetes
 *     calls ready. If there is a {@code clusterIp}, these are the ready pods, and only their number
 *     is used
 * @param unreachable whether no destination has accepted connections for so long that requests
 *     should fail instead of waiting
 */
public record HealthyDestinations(RevisionId revision, @Nullable Destination clusterIp,
    DestinationSet pods, boolean unreachable) {

  public HealthyDestinations(RevisionId revision, @Nullable Destination clusterIp,
      DestinationSet pods) {
    this(revision, clusterIp, pods, false);
  }

  public static HealthyDestinations pods(RevisionId revision, DestinationSet pods) {
    return new HealthyDestinations(revision, null, pods);
  }

  public static HealthyDestinations unreachable(RevisionId revision) {
    return new HealthyDestinations(revision, null, DestinationSet.NONE, true);
  }

  /** Whether this has all destinations of {@code before}; false if {@code before} had none. */
  public boolean onlyAddsTo(HealthyDestinations before) {
    return !before.pods.isEmpty() && Objects.equals(clusterIp, before.clusterIp)
        && pods.containsAll(before.pods);
  }
}
