package dev.activator.embedded.api.store;

import tools.jackson.databind.node.ObjectNode;

/**
 * One committed change of the embedded API's store.
 *
 * @param object for a deletion, the last state with the new revision
 * @param revision of the whole store; each change has the next
 */
public record ApiStoreChange(Type type, Kind kind, ObjectNode object, long revision) {
  public enum Type {
    ADDED,
    MODIFIED,
    DELETED
  }
}
