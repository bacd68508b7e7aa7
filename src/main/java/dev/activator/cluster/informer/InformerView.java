package dev.activator.cluster.informer;

import java.time.Duration;
import java.util.List;

/**
 * @param queued keys not stored yet
 * @param synced whether the first list is stored
 */
public record InformerView(String name, int stored, int queued, boolean synced, long failures,
    List<ListenerView> listeners) {
  /**
   * @param oldest age of the first pending change
   * @param synced whether it was told of the initial objects
   */
  public record ListenerView(String name, int pending, Duration oldest, boolean synced) {}
}
