package dev.activator.revision;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The destinations that can take a revision's requests now.
 *
 * @param clusterIp takes all requests while pods cannot be addressed; else null
 * @param pods that answer probes. If there is a {@code clusterIp}: the ready pods, of which only
 *     the number matters
 * @param unreachable whether nothing has accepted connections for so long that no request should
 *     wait
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

  /** Whether this has all destinations of {@code before}, and more. False if there were none. */
  public boolean onlyAddsTo(HealthyDestinations before) {
    return !before.pods.isEmpty() && Objects.equals(clusterIp, before.clusterIp)
        && pods.containsAll(before.pods);
  }
}
