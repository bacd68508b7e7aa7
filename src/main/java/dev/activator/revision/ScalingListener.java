package dev.activator.revision;

import java.time.Duration;

/**
 * Receives the decisions of the autoscaler, to publish them in statuses and as Events.
 *
 * <p><b>Threads.</b> Called on the autoscaler's loop; must not block. Only called by the elected
 * leader.
 */
public interface ScalingListener {
  /** The view has changed. Called at most once a second for each workload. */
  default void changed(ScalingView view) {}

  /**
   * Something happened that an Event should report.
   *
   * @param reason such as {@code ScaledUp} or {@code ScaleFailed}
   */
  default void happened(RevisionId id, boolean warning, String reason, String message) {}

  /**
   * A workload without replicas was started, or its pods were woken.
   *
   * @param method of {@link ScaleClient.Change}
   */
  default void woken(String method, Duration took) {}
}
