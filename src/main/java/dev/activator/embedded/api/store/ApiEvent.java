package dev.activator.embedded.api.store;

import tools.jackson.databind.node.ObjectNode;

/**
 * One change of one object.
 *
 * @param type what happened
 * @param kind of the object
 * @param object as it is now; for a deleted one, as it last was, with the revision of its deletion
 * @param revision of the whole store; each change has the next
 */
public record ApiEvent(Type type, Kind kind, ObjectNode object, long revision) {
  /** What can happen to an object. */
  public enum Type {
    ADDED, MODIFIED, DELETED
  }
}
