package dev.activator.cluster.informer;

import java.time.Duration;
import java.util.List;

/**
 * The state of an informer.
 *
 * @param name of the informer
 * @param stored objects in the store
 * @param queued keys with deltas that are not stored yet
 * @param synced whether the first list is in the store
 * @param failures changes that could not be handled
 * @param indexFailures objects that an index function failed on
 * @param listeners in the order of their registration
 */
public record InformerView(String name, int stored, int queued, boolean synced, long failures,
    long indexFailures, List<ListenerView> listeners) {
  /**
   * The state of a handler.
   *
   * @param name it was registered with
   * @param pending changes it has not been told of yet
   * @param oldest how long the first of those has been pending; zero if there is none
   * @param busy how long the call in progress has run; zero if there is none
   * @param delivered calls that returned
   * @param failures calls that threw
   * @param synced whether it has been told of everything that was there when it came
   */
  public record ListenerView(String name, int pending, Duration oldest, Duration busy,
      long delivered,
      long failures, boolean synced) {}
}
