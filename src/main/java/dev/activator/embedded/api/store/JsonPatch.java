package dev.activator.embedded.api.store;

import java.util.ArrayDeque;
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
  /** The limit of copied characters, since each copy can double the size of a document. */
  private static final long MAX_COPIED = 3 * 1024 * 1024;
  /**
   * The limit of measurements of the document. One for each operation would take quadratic time.
   */
  private static final int MAX_MEASURED = 100;

  private JsonNode document;
  private long copied;
  /** An upper bound for the depth of the document. */
  private int depth;
  private int measured;

  public static final class PatchException extends RuntimeException {
    PatchException(String message) {
      super(message);
    }
  }

  private record Place(String path, JsonNode parent, JsonPointer last) {
    String name() {
      return last.getMatchingProperty();
    }

    int index(int highest) {
      int index = last.getMatchingIndex();
      if (index < 0 || index > highest) {
        throw new PatchException("'" + name() + "' is not an index at '" + path + "'");
      }
      return index;
    }
  }

  private JsonPatch(JsonNode document) {
    this.document = document;
    this.depth = Json.depth(document);
  }

  public static JsonNode apply(JsonNode target, JsonNode patch) {
    if (!(patch instanceof ArrayNode operations) || operations.size() > MAX_OPERATIONS) {
      throw StatusException
          .badRequest("a JSON patch is a list of at most " + MAX_OPERATIONS + " operations");
    }
    var patched = new JsonPatch(target.deepCopy());
    operations.forEach(patched::apply);
    return patched.document;
  }

  private void apply(JsonNode operation) {
    String name = text(operation, "op");
    String path = text(operation, "path");
    switch (name) {
      case "add" -> add(path, value(operation));
      case "remove" -> remove(path);
      case "replace" -> replace(path, value(operation));
      case "move" -> move(text(operation, "from"), path);
      case "copy" -> copy(text(operation, "from"), path);
      case "test" -> test(path, value(operation));
      default ->
        throw StatusException.badRequest("'" + name + "' is not an operation of JSON patch");
    }
  }

  private void add(String path, JsonNode value) {
    put(path, value);
    deepened(path, Json.depth(value));
  }

  private void remove(String path) {
    if (path.isEmpty()) {
      throw new PatchException("the whole document cannot be removed");
    }
    at(path);
    var place = place(path);
    switch (place.parent()) {
      case ArrayNode array -> array.remove(place.index(array.size() - 1));
      case ObjectNode object -> object.remove(place.name());
      default -> throw nothingAt(path);
    }
  }

  private void replace(String path, JsonNode value) {
    at(path);
    if (path.isEmpty()) {
      document = value;
    } else {
      var place = place(path);
      switch (place.parent()) {
        case ArrayNode array -> array.set(place.index(array.size() - 1), value);
        case ObjectNode object -> object.set(place.name(), value);
        default -> throw nothingAt(path);
      }
    }
    deepened(path, Json.depth(value));
  }

  private void move(String from, String path) {
    if (path.startsWith(from + "/")) {
      throw new PatchException("'" + from + "' cannot be moved into itself");
    }
    var value = at(from);
    if (!from.equals(path)) {
      // This is an upper bound for the depth of the value.
      int nested = Math.max(0, depth - steps(from));
      remove(from);
      put(path, value);
      deepened(path, nested);
    }
  }

  private void copy(String from, String path) {
    var value = at(from);
    copied += size(value);
    if (copied > MAX_COPIED) {
      throw new PatchException("its copies have more than " + MAX_COPIED + " characters");
    }
    add(path, value.deepCopy());
  }

  private void test(String path, JsonNode value) {
    // As in the library of Kubernetes, null is also the value of what is missing.
    var present = value.isNull() && isAbsent(path) ? value : at(path);
    if (!Json.same(present, value)) {
      throw new PatchException("the test at '" + path + "' failed");
    }
  }

  private void put(String path, JsonNode value) {
    if (path.isEmpty()) {
      document = value;
      return;
    }
    var place = place(path);
    switch (place.parent()) {
      case ArrayNode array when place.name().equals("-") -> array.add(value);
      case ArrayNode array -> array.insert(place.index(array.size()), value);
      case ObjectNode object -> object.set(place.name(), value);
      default -> throw new PatchException("nothing can be added at '" + path + "'");
    }
  }

  private Place place(String path) {
    var last = pointer(path).last();
    String parent = path.substring(0, path.length() - last.toString().length());
    return new Place(path, at(parent), last);
  }

  private JsonNode at(String path) {
    var found = document.at(pointer(path));
    if (found.isMissingNode()) {
      throw nothingAt(path);
    }
    return found;
  }

  private boolean isAbsent(String path) {
    var pointer = pointer(path);
    return document.at(pointer).isMissingNode() && !document.at(pointer.head()).isMissingNode();
  }

  private static JsonPointer pointer(String path) {
    if (!path.isEmpty() && !path.startsWith("/")) {
      throw new PatchException("the path '" + path + "' does not begin with '/'");
    }
    if (steps(path) > Json.MAX_DEPTH + 1) {
      throw nothingAt(path);
    }
    return JsonPointer.compile(path);
  }

  private static PatchException nothingAt(String path) {
    return new PatchException("there is nothing at '" + path + "'");
  }

  private void deepened(String path, int nested) {
    depth = Math.max(depth, steps(path) + nested);
    if (depth <= Json.MAX_DEPTH) {
      return;
    }
    depth = Json.depth(document);
    measured++;
    if (depth > Json.MAX_DEPTH || measured > MAX_MEASURED) {
      throw new PatchException("the result is nested deeper than " + Json.MAX_DEPTH + " levels");
    }
  }

  private static int steps(String path) {
    return (int) path.chars().filter(character -> character == '/').count();
  }

  private static long size(JsonNode tree) {
    long size = 0;
    var left = new ArrayDeque<JsonNode>();
    left.push(tree);
    while (!left.isEmpty()) {
      var node = left.pop();
      size += 4 + (node.isString() ? node.stringValue().length() : 0);
      for (var property : node.properties()) {
        size += property.getKey().length();
      }
      node.valueStream().forEach(left::push);
    }
    return size;
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
