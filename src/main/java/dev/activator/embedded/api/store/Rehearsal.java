package dev.activator.embedded.api.store;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads what is stored and writes nothing: what a write on trial goes to. A new object gets no
 * resourceVersion, since no change was made that could have one.
 *
 * @param stored what is really there
 */
record Rehearsal(Storage stored) implements Storage {
  @Override
  public @Nullable ObjectNode find(Kind kind, String key) {
    return stored.find(kind, key);
  }

  @Override
  public List<ObjectNode> list(Kind kind) {
    return stored.list(kind);
  }

  @Override
  public ObjectNode put(Kind kind, ObjectNode object) {
    return object;
  }

  @Override
  public ObjectNode remove(Kind kind, ObjectNode object) {
    return object;
  }
}
