package dev.activator.backend.policy;

import dev.activator.backend.policy.Candidate.Belief;
import dev.activator.revision.Destination;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The ClusterIP, where requests go when a mesh does not let pods be addressed.
 *
 * @param clusterIp its address; null while there is none
 * @param known what is known of it
 */
public record Fallback(@Nullable Destination clusterIp, Candidate known) {
  static final Fallback NONE = at(null, Duration.ZERO);

  private static Fallback at(@Nullable Destination clusterIp, Duration now) {
    return new Fallback(clusterIp, Candidate.fresh(true, now));
  }

  Fallback moved(@Nullable Destination next, Duration now) {
    return Objects.equals(next, clusterIp) ? this : at(next, now);
  }

  boolean healthy() {
    return clusterIp != null && known.belief() == Belief.HEALTHY;
  }

  boolean isAt(Destination destination) {
    return destination.equals(clusterIp);
  }

  Fallback with(Candidate next) {
    return new Fallback(clusterIp, next);
  }

  /** Before it serves again, it is probed again. */
  Fallback forgotten(Duration now) {
    return with(known.believed(Belief.UNKNOWN, now).afresh());
  }
}
