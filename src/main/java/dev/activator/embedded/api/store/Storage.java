package dev.activator.embedded.api.store;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Where objects are put and found: for good, or only to see what would become of them.
 *
 * <p>
 * <b>Threads.</b> Guarded by the store's lock.
 */
interface Storage {
  @Nullable ObjectNode find(Kind kind, String key);

  /** All objects of the kind, in order of their keys. */
  List<ObjectNode> list(Kind kind);

  /** Puts the object in place of what has its key, and returns it as it is stored. */
  ObjectNode put(Kind kind, ObjectNode object);

  /** Takes the object out, and returns it as it last was. */
  ObjectNode remove(Kind kind, ObjectNode stored);
}
