package dev.activator.kube.informer;

import java.time.Duration;
import java.util.List;

/**
 * A snapshot of an informer's state: stored and queued objects, sync, failures, listeners.
 *
 * @param queued the number of keys with changes that are not stored yet
 * @param synced whether the first list is stored
 * @param missedDeletions the number of objects that were missing in a list, although no watch had
 *     reported their deletion
 */
public record InformerStatus(String name, int stored, int queued, boolean synced, long failures,
    long missedDeletions, List<ListenerView> listeners) {
  /**
   * @param oldest the age of the oldest pending change
   * @param synced whether the listener has handled the initial objects
   */
  public record ListenerView(String name, int pending, Duration oldest, boolean synced) {}
}
