package dev.activator.embedded.api.store;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A list of operations, all of which must succeed.
 *
 * <p>
 * <b>Errors.</b> {@link ApiException} 400 for what is not a patch, {@link PatchException} for one
 * that does not fit.
 *
 * <p>
 * <b>Source.</b> RFC 6902.
 */
public final class JsonPatch {
  private static final int MOST_OPERATIONS = 10_000;

  private JsonPatch() {}

  public static JsonNode apply(JsonNode target, JsonNode patch) {
    if (!(patch instanceof ArrayNode operations) || operations.size() > MOST_OPERATIONS) {
      throw ApiException
          .badRequest("a JSON patch is a list of at most " + MOST_OPERATIONS + " operations");
    }
    JsonNode document = target.deepCopy();
    var depth = new Depth(document);
    long copied = 0;
    for (var operation : operations) {
      String name = text(operation, "op");
      if (name.equals("copy")) {
        copied += TreeSize.of(Pointer.parse(text(operation, "from")).in(document));
        TreeSize.check(copied);
      }
      int nested = nested(document, operation, name, depth);
      document = apply(document, operation, name);
      if (nested > 0) {
        depth.put(Pointer.parse(text(operation, "path")), nested, document);
      }
    }
    return document;
  }

  /** How deep, at most, is what the operation puts somewhere. */
  private static int nested(JsonNode document, JsonNode operation, String name, Depth depth) {
    return switch (name) {
      case "add", "replace" -> Json.depth(operation.path("value"));
      case "copy" -> Json.depth(Pointer.parse(text(operation, "from")).in(document));
      case "move" -> depth.below(Pointer.parse(text(operation, "from")));
      default -> 0;
    };
  }

  private static JsonNode apply(JsonNode document, JsonNode operation, String name) {
    var path = Pointer.parse(text(operation, "path"));
    return switch (name) {
      case "add" -> add(document, path, value(operation));
      case "remove" -> remove(document, path);
      case "replace" -> replace(document, path, value(operation));
      case "move" -> move(document, Pointer.parse(text(operation, "from")), path);
      case "copy" -> add(document, path,
          Pointer.parse(text(operation, "from")).in(document).deepCopy());
      case "test" -> test(document, path, value(operation));
      default -> throw ApiException.badRequest("'" + name + "' is not an operation of JSON patch");
    };
  }

  private static JsonNode add(JsonNode document, Pointer path, JsonNode value) {
    if (path.whole()) {
      return value;
    }
    switch (path.parentIn(document)) {
      case ArrayNode array when path.last().equals("-") -> array.add(value);
      case ArrayNode array -> array.insert(path.index(path.last(), array.size()), value);
      case ObjectNode object -> object.set(path.last(), value);
      default -> throw new PatchException("nothing can be added at '" + path + "'");
    }
    return document;
  }

  private static JsonNode remove(JsonNode document, Pointer path) {
    if (path.whole()) {
      throw new PatchException("the whole document cannot be removed");
    }
    path.in(document);
    switch (path.parentIn(document)) {
      case ArrayNode array -> array.remove(path.index(path.last(), array.size() - 1));
      case ObjectNode object -> object.remove(path.last());
      default -> throw new PatchException("there is nothing at '" + path + "'");
    }
    return document;
  }

  private static JsonNode replace(JsonNode document, Pointer path, JsonNode value) {
    if (path.whole()) {
      return value;
    }
    path.in(document);
    switch (path.parentIn(document)) {
      case ArrayNode array -> array.set(path.index(path.last(), array.size() - 1), value);
      case ObjectNode object -> object.set(path.last(), value);
      default -> throw new PatchException("there is nothing at '" + path + "'");
    }
    return document;
  }

  private static JsonNode move(JsonNode document, Pointer from, Pointer path) {
    if (from.isPrefixOf(path)) {
      throw new PatchException("'" + from + "' cannot be moved into itself");
    }
    var value = from.in(document);
    return from.equals(path) ? document : add(remove(document, from), path, value);
  }

  private static JsonNode test(JsonNode document, Pointer path, JsonNode value) {
    if (!Json.same(path.in(document), value)) {
      throw new PatchException("the test at '" + path + "' failed");
    }
    return document;
  }

  private static JsonNode value(JsonNode operation) {
    var value = operation.get("value");
    if (value == null) {
      throw ApiException.badRequest("a JSON patch operation lacks 'value'");
    }
    return value.deepCopy();
  }

  private static String text(JsonNode operation, String name) {
    var text = operation.path(name);
    if (!text.isString()) {
      throw ApiException.badRequest("a JSON patch operation lacks '" + name + "'");
    }
    return text.stringValue();
  }
}
