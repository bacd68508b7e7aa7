package dev.activator.backend.policy;

import dev.activator.backend.policy.Candidate.Belief;
import dev.activator.revision.Destination;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The ClusterIP, where requests go when a mesh does not let pods be addressed.
 *
 * @param clusterIp its address; null while there is none
 * @param known what is known of it
 */
public record Fallback(@Nullable Destination clusterIp, Candidate known) {
  static final Fallback NONE = at(null);

  static Fallback at(@Nullable Destination clusterIp) {
    return new Fallback(clusterIp, Candidate.unknown(true));
  }

  Fallback moved(@Nullable Destination now) {
    return Objects.equals(now, clusterIp) ? this : at(now);
  }

  boolean healthy() {
    return clusterIp != null && known.belief() == Belief.HEALTHY;
  }

  boolean isAt(Destination destination) {
    return destination.equals(clusterIp);
  }

  Fallback with(Candidate now) {
    return new Fallback(clusterIp, now);
  }

  /** Before it serves again, it is probed again. */
  Fallback forgotten() {
    return with(known.believed(Belief.UNKNOWN).afresh());
  }
}
