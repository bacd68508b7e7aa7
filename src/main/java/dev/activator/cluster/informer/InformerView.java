package dev.activator.cluster.informer;

import java.util.List;

/**
 * How an informer does.
 *
 * @param name of the informer
 * @param stored objects in the store
 * @param queued keys that wait to be stored
 * @param synced whether the first list is in the store
 * @param failures changes that could not be handled
 * @param indexFailures objects that an index function failed on
 * @param mutated cached objects found changed; none are looked for unless that is switched on
 * @param listeners in the order they came
 */
public record InformerView(String name, int stored, int queued, boolean synced, long failures,
    long indexFailures, long mutated, List<ListenerView> listeners) {}
