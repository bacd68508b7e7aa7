package dev.activator.cluster.informer;

import java.time.Duration;
import java.util.List;

/**
 * A snapshot of an informer's state: stored and queued objects, sync, failures, listeners.
 *
 * @param queued keys not stored yet
 * @param synced whether the first list is stored
 * @param missedDeletions objects that a list lacked, though no watch had reported their deletion
 */
public record InformerStatus(String name, int stored, int queued, boolean synced, long failures,
    long missedDeletions, List<ListenerView> listeners) {
  /**
   * @param oldest age of the first pending change
   * @param synced whether it has handled the initial objects
   */
  public record ListenerView(String name, int pending, Duration oldest, boolean synced) {}
}
