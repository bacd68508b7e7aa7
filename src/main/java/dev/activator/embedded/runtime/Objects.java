package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiException;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes objects that others may write and delete as well.
 *
 * <p>
 * <b>Errors.</b> What was made or deleted by someone else meanwhile is no error. Any other refusal
 * is logged: one object must not keep the others from being written.
 */
final class Objects {
  private static final Logger log = LoggerFactory.getLogger(Objects.class);

  private final ApiStore store;

  Objects(ApiStore store) {
    this.store = store;
  }

  /** An object with its head alone. */
  static ObjectNode of(Kind kind, String namespace, String name) {
    var object = Json.object().put("apiVersion", kind.apiVersion()).put("kind", kind.kind());
    object.putObject("metadata").put("namespace", namespace).put("name", name);
    return object;
  }

  void create(Kind kind, ObjectNode object) {
    attempt("create", kind, "AlreadyExists", () -> store.create(kind, object));
  }

  /** Returns whether it is there. */
  boolean edit(Kind kind, String namespace, String name, UnaryOperator<ObjectNode> change) {
    return attempt("change", kind, "NotFound", () -> store.edit(kind, namespace, name, change));
  }

  void updateStatus(Kind kind, String namespace, String name, UnaryOperator<ObjectNode> change) {
    attempt("change the status of", kind, "NotFound",
        () -> store.updateStatus(kind, namespace, name, change));
  }

  void delete(Kind kind, String namespace, String name) {
    attempt("delete", kind, "NotFound", () -> store.delete(kind, namespace, name));
  }

  /** Returns false if it was refused as expected. */
  private static boolean attempt(String verb, Kind kind, String expected, Runnable write) {
    try {
      write.run();
    } catch (ApiException refused) {
      if (refused.reason().equals(expected)) {
        return false;
      }
      log.error("Cannot {} one of {}: {}", verb, kind, refused.getMessage());
    }
    return true;
  }
}
