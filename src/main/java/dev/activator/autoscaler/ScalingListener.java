package dev.activator.autoscaler;

import dev.activator.revision.RevisionId;

/**
 * Publishes what the autoscaler decides, in the status of objects and as Events.
 *
 * <p><b>Threads.</b> Called on the autoscaler's loop; must not block. Only called by the elected
 * leader.
 */
public interface ScalingListener {
  /** The view has changed. Called at most once a second for each target. */
  default void changed(ScalingView view) {}

  /**
   * Something happened that should become an Event.
   *
   * @param reason such as {@code ScaledUp} or {@code ScaleFailed}
   */
  default void happened(RevisionId id, boolean warning, String reason, String message) {}
}
