package dev.activator.embedded.api.store;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * One line of the store's log. The objects are shared and never change.
 *
 * @param type what happened
 * @param kind of which kind
 * @param object as it is now; for a deleted one, as it last was, with {@code revision}
 * @param previous as it was before; null for a new one
 * @param revision of the whole store; each commit has the next
 */
public record Commit(ApiEvent.Type type, Kind kind, ObjectNode object,
    @Nullable ObjectNode previous,
    long revision) {}
