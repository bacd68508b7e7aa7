package dev.activator.embedded.api.store;

import tools.jackson.databind.node.ObjectNode;

/**
 * One change of one object.
 *
 * @param type what happened
 * @param object as it is now; for a deleted one, as it last was, with the revision of its deletion
 */
public record ApiEvent(Type type, ObjectNode object) {
  /** What can happen to an object. */
  public enum Type {
    ADDED, MODIFIED, DELETED
  }
}
