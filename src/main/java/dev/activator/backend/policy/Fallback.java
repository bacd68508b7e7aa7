package dev.activator.backend.policy;

import dev.activator.backend.policy.PodHealth.Belief;
import dev.activator.revision.Destination;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The ClusterIP, where requests go when a mesh does not let pods be addressed.
 *
 * @param clusterIp its address; null while there is none
 * @param health what is known of it
 */
public record Fallback(@Nullable Destination clusterIp, PodHealth health) {
  static final Fallback NONE = new Fallback(null, PodHealth.fresh(true, Duration.ZERO));

  boolean healthy() {
    return clusterIp != null && health.belief() == Belief.HEALTHY;
  }

  boolean isAt(Destination destination) {
    return destination.equals(clusterIp);
  }

  Fallback with(PodHealth next) {
    return new Fallback(clusterIp, next);
  }

  /** It is probed before it serves again. */
  Fallback forgotten(Duration now) {
    return with(health.believed(Belief.UNKNOWN, now).afresh());
  }
}
