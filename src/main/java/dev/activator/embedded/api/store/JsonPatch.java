package dev.activator.embedded.api.store;

import tools.jackson.core.JsonPointer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Applies JSON patches. All operations must succeed.
 *
 * <p><b>Errors.</b> {@link StatusException} 400 if the body is no patch, {@link PatchException} if
 * it cannot be applied to the object.
 *
 * <p><b>Source.</b> RFC 6902; the copy limit is {@code AccumulatedCopySizeLimit} of Kubernetes'
 * library.
 */
public final class JsonPatch {
  private static final int MAX_OPERATIONS = 10_000;
  /** The limit of copied bytes, since each copy can double the size of a document. */
  private static final long MAX_COPIED = 3 * 1024 * 1024;

  private JsonNode document;
  private long copied;

  public static final class PatchException extends RuntimeException {
    PatchException(String message) {
      super(message);
    }
  }

  private JsonPatch(JsonNode document) {
    this.document = document;
  }

  public static JsonNode apply(JsonNode target, JsonNode patch) {
    if (!(patch instanceof ArrayNode operations) || operations.size() > MAX_OPERATIONS) {
      throw StatusException
          .badRequest("a JSON patch is a list of at most " + MAX_OPERATIONS + " operations");
    }
    var patched = new JsonPatch(target.deepCopy());
    operations.forEach(patched::apply);
    checkDepth(patched.document);
    return patched.document;
  }

  private void apply(JsonNode operation) {
    String name = text(operation, "op");
    String path = text(operation, "path");
    switch (name) {
      case "add" -> put(path, value(operation));
      case "remove" -> remove(path);
      case "replace" -> {
        var value = value(operation);
        // As in the library of Kubernetes, a member of an object may be missing.
        if (!isMember(path) && !path.isEmpty()) {
          remove(path);
        }
        put(path, value);
      }
      case "move" -> move(text(operation, "from"), path);
      case "copy" -> copy(text(operation, "from"), path);
      case "test" -> test(path, value(operation));
      default ->
        throw StatusException.badRequest("'" + name + "' is not an operation of JSON patch");
    }
  }

  private void put(String path, JsonNode value) {
    if (path.isEmpty()) {
      document = value;
      return;
    }
    var last = pointer(path).last();
    switch (parent(path)) {
      case ArrayNode array when last.getMatchingProperty().equals("-") -> array.add(value);
      case ArrayNode array -> array.insert(index(last, array.size()), value);
      case ObjectNode object -> object.set(last.getMatchingProperty(), value);
      default -> throw new PatchException("nothing can be added at '" + path + "'");
    }
  }

  private void remove(String path) {
    if (path.isEmpty()) {
      throw new PatchException("the whole document cannot be removed");
    }
    at(path);
    var last = pointer(path).last();
    if (parent(path) instanceof ArrayNode array) {
      array.remove(index(last, array.size() - 1));
    } else {
      ((ObjectNode) parent(path)).remove(last.getMatchingProperty());
    }
  }

  private void move(String from, String path) {
    if (path.startsWith(from + "/")) {
      throw new PatchException("'" + from + "' cannot be moved into itself");
    }
    var value = at(from);
    if (!from.equals(path)) {
      remove(from);
      put(path, value);
    }
  }

  private void copy(String from, String path) {
    var value = atOrNull(from);
    checkDepth(value);
    copied += Json.bytes(value).length;
    if (copied > MAX_COPIED) {
      throw new PatchException("its copies have more than " + MAX_COPIED + " bytes");
    }
    put(path, value.deepCopy());
  }

  private void test(String path, JsonNode value) {
    if (!Json.same(atOrNull(path), value)) {
      throw new PatchException("the test at '" + path + "' failed");
    }
  }

  /** Whether this is a member of an object, which may be missing. */
  private boolean isMember(String path) {
    return !pointer(path).matches() && parent(path).isObject();
  }

  /** The value at a path. As in the library of Kubernetes, that of a missing member is null. */
  private JsonNode atOrNull(String path) {
    return isMember(path) && document.at(pointer(path)).isMissingNode()
        ? Json.MAPPER.nullNode()
        : at(path);
  }

  private JsonNode parent(String path) {
    return at(path.substring(0, path.lastIndexOf('/')));
  }

  private JsonNode at(String path) {
    var found = document.at(pointer(path));
    if (found.isMissingNode()) {
      throw new PatchException("there is nothing at '" + path + "'");
    }
    return found;
  }

  private static JsonPointer pointer(String path) {
    if (!path.isEmpty() && !path.startsWith("/")) {
      throw new PatchException("the path '" + path + "' does not begin with '/'");
    }
    if (path.chars().filter(character -> character == '/').count() > Json.MAX_DEPTH + 1) {
      throw new PatchException("there is nothing at '" + path + "'");
    }
    return JsonPointer.compile(path);
  }

  private static int index(JsonPointer last, int highest) {
    int index = last.getMatchingIndex();
    if (index < 0 || index > highest) {
      throw new PatchException("'" + last.getMatchingProperty() + "' is not an index of the list");
    }
    return index;
  }

  private static void checkDepth(JsonNode tree) {
    if (Json.depth(tree) > Json.MAX_DEPTH) {
      throw new PatchException("the result is nested deeper than " + Json.MAX_DEPTH + " levels");
    }
  }

  private static JsonNode value(JsonNode operation) {
    var value = operation.get("value");
    if (value == null) {
      throw StatusException.badRequest("a JSON patch operation lacks 'value'");
    }
    return value.deepCopy();
  }

  private static String text(JsonNode operation, String name) {
    var text = operation.path(name);
    if (!text.isString()) {
      throw StatusException.badRequest("a JSON patch operation lacks '" + name + "'");
    }
    return text.stringValue();
  }
}
