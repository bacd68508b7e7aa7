package dev.activator.revision;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where a revision's requests can go now: what its watcher publishes and its throttler follows.
 *
 * @param revision the revision they belong to
 * @param clusterIp where all requests go while pods cannot be addressed; null while they can
 * @param pods those that answer; with {@code clusterIp}, those Kubernetes calls ready: only their
 *     number counts
 * @param unreachable whether nothing accepts connections any more, and has not for so long that no
 *     request should wait for it; there is no destination then
 */
public record HealthyDestinations(RevisionId revision, @Nullable Destination clusterIp,
    Destinations pods, boolean unreachable) {

  /** Destinations that accept connections; none while pods start, or there are none. */
  public HealthyDestinations(RevisionId revision, @Nullable Destination clusterIp,
      Destinations pods) {
    this(revision, clusterIp, pods, false);
  }

  /** Pods that are addressed one by one; none means there is no capacity. */
  public static HealthyDestinations pods(RevisionId revision, Destinations pods) {
    return new HealthyDestinations(revision, null, pods);
  }

  /** No destination, and none that a request should wait for. */
  public static HealthyDestinations unreachable(RevisionId revision) {
    return new HealthyDestinations(revision, null, Destinations.NONE, true);
  }

  /** Whether there were destinations before, and all of them are still here. */
  public boolean onlyAddsTo(HealthyDestinations before) {
    return !before.pods.isEmpty() && Objects.equals(clusterIp, before.clusterIp)
        && pods.containsAll(before.pods);
  }
}
