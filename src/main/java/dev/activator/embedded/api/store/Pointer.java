package dev.activator.embedded.api.store;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A place in a tree.
 *
 * <p>
 * <b>Source.</b> RFC 6901.
 *
 * @param steps names and indices, outermost first; none means the whole document
 */
record Pointer(List<String> steps) {
  static Pointer parse(String text) {
    if (text.isEmpty()) {
      return new Pointer(List.of());
    }
    if (!text.startsWith("/")) {
      throw new PatchException("the path '" + text + "' does not begin with '/'");
    }
    var steps = new ArrayList<String>();
    for (var step : text.substring(1).split("/", -1)) {
      steps.add(step.replace("~1", "/").replace("~0", "~"));
    }
    return new Pointer(List.copyOf(steps));
  }

  boolean whole() {
    return steps.isEmpty();
  }

  boolean isPrefixOf(Pointer other) {
    return other.steps.size() > steps.size()
        && other.steps.subList(0, steps.size()).equals(steps);
  }

  String last() {
    return steps.getLast();
  }

  /** The node here; it must exist. */
  JsonNode in(JsonNode document) {
    JsonNode node = document;
    for (var step : steps) {
      node = child(node, step);
    }
    return node;
  }

  /** The node that holds this place; it must exist. */
  JsonNode parentIn(JsonNode document) {
    return new Pointer(steps.subList(0, steps.size() - 1)).in(document);
  }

  private JsonNode child(JsonNode node, String step) {
    var child = switch (node) {
      case ArrayNode array -> array.get(index(step, array.size() - 1));
      case ObjectNode object -> object.get(step);
      default -> null;
    };
    if (child == null) {
      throw new PatchException("there is nothing at '" + this + "'");
    }
    return child;
  }

  /** The step as an index that is at most {@code highest}. */
  int index(String step, int highest) {
    if (!step.matches("0|[1-9]\\d{0,8}") || Integer.parseInt(step) > highest) {
      throw new PatchException("'" + step + "' is not an index at '" + this + "'");
    }
    return Integer.parseInt(step);
  }

  @Override
  public String toString() {
    var text = new StringBuilder();
    for (var step : steps) {
      text.append('/').append(step.replace("~", "~0").replace("/", "~1"));
    }
    return text.toString();
  }
}
