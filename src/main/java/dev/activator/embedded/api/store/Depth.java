package dev.activator.embedded.api.store;

import tools.jackson.databind.JsonNode;

/**
 * How deep a document may be by now, while it is patched. Counted along, and measured only when it
 * may be too deep: the whole of it for each operation would be quadratic.
 */
final class Depth {
  private static final int MOST_MEASURED = 100;

  private int most;
  private int measured;

  Depth(JsonNode document) {
    most = Json.depth(document);
  }

  /** What is below this place goes no deeper than this. */
  int below(Pointer place) {
    return Math.max(0, most - place.steps().size());
  }

  /** Something so deep was put there. */
  void put(Pointer place, int depth, JsonNode document) {
    most = Math.max(most, place.steps().size() + depth);
    if (most <= Json.DEEPEST) {
      return;
    }
    most = Json.depth(document);
    measured++;
    if (most > Json.DEEPEST || measured > MOST_MEASURED) {
      throw new PatchException("the result is nested deeper than " + Json.DEEPEST + " levels");
    }
  }
}
