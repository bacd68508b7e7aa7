package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.ObjectWrites.DeleteOptions;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads and writes objects for the controllers. Users may change the same objects at any time.
 *
 * <p><b>Errors.</b> It is no error if an object was created or deleted in the meantime. Other
 * refusals are logged, so that the remaining objects are still written.
 */
public final class ControllerWrites {
  private static final Logger log = LoggerFactory.getLogger(ControllerWrites.class);

  private final ApiStore store;

  public ControllerWrites(ApiStore store) {
    this.store = store;
  }

  public static ObjectNode named(Kind kind, String namespace, String name) {
    var object = Json.object().put("apiVersion", kind.apiVersion()).put("kind", kind.kind());
    object.putObject("metadata").put("namespace", namespace).put("name", name);
    return object;
  }

  @Nullable ObjectNode find(Kind kind, String namespace, String name) {
    return store.find(kind, namespace, name);
  }

  /** Creates an object, unless its namespace is deleted. Returns false if the object exists. */
  public boolean create(Kind kind, ObjectNode object) {
    return attempt("create", kind, "AlreadyExists", () -> {
      try {
        store.createInNamespace(kind, object);
      } catch (StatusException e) {
        var namespace = store.find(BuiltInKinds.NAMESPACE, "", ObjectMeta.namespace(object));
        if (namespace != null && !ObjectMeta.terminating(namespace)) {
          throw e;
        }
      }
    });
  }

  /** Changes an object. Returns false if it does not exist. */
  public boolean edit(Kind kind, String namespace, String name, Consumer<ObjectNode> change) {
    return attempt("change", kind, "NotFound", () -> store.edit(kind, namespace, name, object -> {
      change.accept(object);
      return object;
    }));
  }

  boolean edit(Kind kind, JsonNode object, Consumer<ObjectNode> change) {
    return edit(kind, ObjectMeta.namespace(object), ObjectMeta.name(object), change);
  }

  void updateStatus(Kind kind, JsonNode object, Consumer<ObjectNode> change) {
    updateStatus(kind, ObjectMeta.namespace(object), ObjectMeta.name(object), change);
  }

  void delete(Kind kind, JsonNode object) {
    delete(kind, ObjectMeta.namespace(object), ObjectMeta.name(object));
  }

  public void updateStatus(Kind kind, String namespace, String name, Consumer<ObjectNode> change) {
    attempt("change the status of", kind, "NotFound",
        () -> store.updateStatus(kind, namespace, name, object -> {
          change.accept(object);
          return object;
        }));
  }

  public void delete(Kind kind, String namespace, String name) {
    attempt("delete", kind, "NotFound", () -> store.delete(kind, namespace, name));
  }

  /** Removes a Pod whose process has ended. Returns its last state; null if it does not exist. */
  @Nullable ObjectNode removePod(String namespace, String name) {
    var last = find(BuiltInKinds.POD, namespace, name);
    attempt("delete", BuiltInKinds.POD, "NotFound",
        () -> store.writes().delete(BuiltInKinds.POD, namespace, name, DeleteOptions.NOW));
    return last;
  }

  /** Tries a write. Returns false if it was refused for the expected reason. */
  private static boolean attempt(String verb, Kind kind, String expected, Runnable write) {
    try {
      write.run();
    } catch (StatusException e) {
      if (e.reason().equals(expected)) {
        return false;
      }
      log.error("Cannot {} one of {}: {}", verb, kind, e.getMessage());
    }
    return true;
  }
}
