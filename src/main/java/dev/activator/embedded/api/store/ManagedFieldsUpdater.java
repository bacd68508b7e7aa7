package dev.activator.embedded.api.store;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** A hook that sets {@code metadata.managedFields} of an object before it is stored. */
@FunctionalInterface
public interface ManagedFieldsUpdater {
  /** The hook for writes of this server. It changes no entries. */
  ManagedFieldsUpdater NONE = (stored, written) -> {
    var entries = stored == null ? null : stored.path("metadata").get("managedFields");
    if (entries == null) {
      ObjectMeta.of(written).remove("managedFields");
    } else {
      ObjectMeta.of(written).set("managedFields", entries);
    }
  };

  /** @param stored null if the object is new */
  void track(@Nullable ObjectNode stored, ObjectNode written);
}
