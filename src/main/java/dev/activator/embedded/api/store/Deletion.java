package dev.activator.embedded.api.store;

import tools.jackson.databind.node.ObjectNode;

/**
 * What became of an object that someone deleted.
 *
 * @param object as it last was, or as it waits
 * @param outcome whether it is gone
 */
public record Deletion(ObjectNode object, Outcome outcome) {
  /** Gone at once, or only when its finalizers are, or what it holds. */
  public enum Outcome {
    GONE, WAITS
  }
}
