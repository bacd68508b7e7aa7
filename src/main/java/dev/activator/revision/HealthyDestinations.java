package dev.activator.revision;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where a revision's requests can go now: what its watcher publishes and its throttler follows.
 *
 * @param revision whose
 * @param clusterIp where all requests go while pods cannot be addressed; null while they can
 * @param pods those that answer; with {@code clusterIp}, those Kubernetes calls ready, which only
 *     count
 */
public record HealthyDestinations(RevisionId revision, @Nullable Destination clusterIp,
    Destinations pods) {

  /** Pods that are addressed one by one; none means there is no capacity. */
  public static HealthyDestinations pods(RevisionId revision, Destinations pods) {
    return new HealthyDestinations(revision, null, pods);
  }

  /** Whether requests could go somewhere before, and whatever they could go to then is still here. */
  public boolean onlyAddsTo(HealthyDestinations before) {
    return !before.pods.isEmpty() && Objects.equals(clusterIp, before.clusterIp)
        && pods.containsAll(before.pods);
  }
}
