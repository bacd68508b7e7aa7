package dev.activator.cluster.informer;

import java.time.Duration;
import java.util.List;

/**
 * @param queued keys not stored yet
 * @param synced whether the first list is stored
 */
public record InformerView(String name, int stored, int queued, boolean synced, long failures,
    long indexFailures, List<ListenerView> listeners) {
  /**
   * @param oldest age of the first pending change
   * @param busy duration of the running call
   * @param delivered calls that returned
   * @param failures calls that threw
   * @param synced whether it was told of the initial objects
   */
  public record ListenerView(String name, int pending, Duration oldest, Duration busy,
      long delivered,
      long failures, boolean synced) {}
}
