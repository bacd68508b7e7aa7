package dev.activator.embedded.api.patch;

import java.util.ArrayDeque;
import tools.jackson.databind.JsonNode;

/**
 * Keeps patches from making much out of little: a few operations that copy double a document each
 * time, and a few that move nest it ever deeper.
 *
 * <p>
 * <b>Source.</b> {@code AccumulatedCopySizeLimit} of the JSON patch library that Kubernetes uses.
 */
final class TreeSize {
  /** As much as a request may have. */
  private static final long MOST_COPIED = 3 * 1024 * 1024;
  /** As deep as the JSON reader goes. */
  private static final int DEEPEST = 500;

  private TreeSize() {}

  /** A node with how deep it is. */
  private record Place(JsonNode node, int depth) {}

  /** About as many characters as the tree has in JSON. */
  static long of(JsonNode tree) {
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

  static void check(long copied) {
    if (copied > MOST_COPIED) {
      throw new PatchException("its copies come to more than " + MOST_COPIED + " characters");
    }
  }

  static void checkDepth(JsonNode tree) {
    var left = new ArrayDeque<Place>();
    left.push(new Place(tree, 0));
    while (!left.isEmpty()) {
      var place = left.pop();
      if (place.depth() > DEEPEST) {
        throw new PatchException("the result is nested deeper than " + DEEPEST + " levels");
      }
      place.node().valueStream().forEach(node -> left.push(new Place(node, place.depth() + 1)));
    }
  }
}
