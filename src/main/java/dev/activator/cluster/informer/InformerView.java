package dev.activator.cluster.informer;

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
    long indexFailures, List<ListenerView> listeners) {}
