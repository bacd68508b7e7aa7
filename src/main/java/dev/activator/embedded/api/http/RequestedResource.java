package dev.activator.embedded.api.http;

import dev.activator.embedded.api.policy.ResourcePath;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.Kind.Trait;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.KindRegistry;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import tools.jackson.databind.node.ObjectNode;

/**
 * The object or collection that a request addresses.
 *
 * @param namespace may be empty
 * @param name empty for a collection
 * @param subresource empty for the object itself
 * @param watched whether the path itself requests a watch, of a collection or of one object
 */
record RequestedResource(Kind kind, String namespace, String name, String subresource,
    boolean watched) {
  static RequestedResource of(KindRegistry kinds, String path) {
    var parsed = ResourcePath.parse(path).orElseThrow(StatusErrors::noSuchResource);
    var kind = kinds.at(parsed.group(), parsed.version(), parsed.plural())
        .orElseThrow(() -> StatusErrors.unknownKind(kinds.all(), parsed));
    var target = new RequestedResource(kind, parsed.namespace(), parsed.name(),
        parsed.subresource(), parsed.watched());
    if (kind.equals(BuiltInKinds.POD) && parsed.subresource().equals("attach")) {
      throw StatusErrors.notOffered("'attach' of pods", "their output is in kubectl logs");
    }
    if (!target.exists()) {
      throw StatusErrors.noSuchResource();
    }
    return target;
  }

  private boolean exists() {
    boolean placed = kind.namespaced()
        ? !namespace.isEmpty() || name.isEmpty()
        : namespace.isEmpty();
    return placed && (!watched || subresource.isEmpty()) && switch (subresource) {
      case "" -> true;
      case "status" -> kind.has(Trait.STATUS);
      case "scale" -> kind.has(Trait.SCALE);
      case "log", "exec", "portforward" -> kind.equals(BuiltInKinds.POD);
      default -> false;
    };
  }

  boolean collection() {
    return name.isEmpty();
  }

  /** Sets the namespace of the path. Refuses an object with another one. */
  ObjectNode place(ObjectNode object) {
    var metadata = object.path("metadata");
    if (!metadata.isObject() && !metadata.isMissingNode() && !metadata.isNull()) {
      throw StatusException.badRequest("the metadata of the object is not an object");
    }
    String own = ObjectMeta.namespace(object);
    if (kind.namespaced() && !own.isEmpty() && !own.equals(namespace)) {
      throw StatusException.badRequest("the namespace of the provided object does not match the"
          + " namespace sent on the request");
    }
    if (kind.namespaced()) {
      ObjectMeta.of(object).put("namespace", namespace);
    }
    return object;
  }

  /** Sets the namespace of the path. Refuses an object without the name of the path. */
  ObjectNode named(ObjectNode object) {
    if (ObjectMeta.name(object).isEmpty()) {
      throw StatusException.badRequest("the name of the object (" + name
          + " based on URL) was undeterminable: name must be provided");
    }
    return completed(object);
  }

  /** Sets the namespace and name of the path. Refuses an object with others. */
  ObjectNode completed(ObjectNode object) {
    place(object);
    String own = ObjectMeta.name(object);
    if (!own.isEmpty() && !own.equals(name)) {
      throw StatusException.badRequest("the name of the object (" + own
          + ") does not match the name on the URL (" + name + ")");
    }
    ObjectMeta.of(object).put("name", name);
    return object;
  }
}
