package dev.activator.embedded.api.store;

import tools.jackson.databind.node.ObjectNode;

/**
 * One committed change in the store.
 *
 * @param object the object; after a deletion, its last state with the new revision
 * @param revision the revision of the whole store; each change gets the next one
 */
public record ApiStoreChange(Type type, Kind kind, ObjectNode object, long revision) {
  public enum Type {
    ADDED,
    MODIFIED,
    DELETED
  }
}
