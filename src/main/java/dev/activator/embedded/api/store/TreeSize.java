package dev.activator.embedded.api.store;

import java.util.ArrayDeque;
import tools.jackson.databind.JsonNode;

/**
 * Keeps patches from making much out of little: a few operations that copy double a document each
 * time.
 *
 * <p>
 * <b>Source.</b> {@code AccumulatedCopySizeLimit} of the JSON patch library that Kubernetes uses.
 */
final class TreeSize {
  /** As much as a request may have. */
  private static final long MOST_COPIED = 3 * 1024 * 1024;

  private TreeSize() {}

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
}
