package dev.activator.embedded.api.store;

import tools.jackson.databind.node.ObjectNode;

/**
 * One committed change in the store.
 *
 * @param object the object after the change; for a deletion, its last state, but with the
 *     resourceVersion of the deletion
 * @param revision the store-wide resourceVersion of this change, one higher than that of the change
 *     before
 */
public record ApiStoreChange(Type type, Kind kind, ObjectNode object, long revision) {
  public enum Type {
    ADDED,
    MODIFIED,
    DELETED
  }
}
