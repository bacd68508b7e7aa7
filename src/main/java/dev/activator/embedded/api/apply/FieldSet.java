package dev.activator.embedded.api.apply;

import dev.activator.embedded.api.store.Json;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A set of paths in an object, as a tree of path elements in the format {@code FieldsV1}:
 * {@code f:<name>} is a field, {@code k:<keys>} the list item with these keys, {@code v:<value>} an
 * item of a set.
 *
 * <p><b>Source.</b> {@code fieldpath} in sigs.k8s.io/structured-merge-diff.
 *
 * @param member whether the path to this node is in the set
 * @param children the sets below this node; none is empty
 */
record FieldSet(boolean member, SortedMap<String, FieldSet> children) {
  static final FieldSet EMPTY = new FieldSet(false, Collections.emptySortedMap());
  static final FieldSet MEMBER = new FieldSet(true, Collections.emptySortedMap());
  private static final String ITSELF = ".";
  private static final String FIELD = "f:";
  private static final String KEYS = "k:";
  private static final String VALUE = "v:";

  @FunctionalInterface
  private interface Membership {
    boolean of(boolean one, boolean other);
  }

  static FieldSet of(boolean member, Map<String, FieldSet> children) {
    var left = new TreeMap<String, FieldSet>();
    children.forEach((element, child) -> {
      if (!child.isEmpty()) {
        left.put(element, child);
      }
    });
    return left.isEmpty()
        ? member ? MEMBER : EMPTY
        : new FieldSet(member, Collections.unmodifiableSortedMap(left));
  }

  /** @throws IllegalArgumentException if it is not in the format {@code FieldsV1} */
  static FieldSet parse(JsonNode fields) {
    var children = new TreeMap<String, FieldSet>();
    boolean member = fields.isEmpty();
    for (var entry : fields.properties()) {
      if (entry.getKey().equals(ITSELF)) {
        member = true;
      } else {
        children.put(element(entry.getKey()), parse(entry.getValue()));
      }
    }
    return of(member, children);
  }

  private static String element(String text) {
    String rest = text.length() > 2 ? text.substring(2) : "";
    return switch (text.substring(0, Math.min(2, text.length()))) {
      case FIELD, "i:" -> text;
      case KEYS -> keys(Json.MAPPER.readTree(rest));
      case VALUE -> value(Json.MAPPER.readTree(rest));
      default -> throw new IllegalArgumentException("not an element of a path: " + text);
    };
  }

  static String field(String name) {
    return FIELD + name;
  }

  static String value(JsonNode value) {
    return VALUE + value;
  }

  static String keys(JsonNode keys) {
    var sorted = Json.object();
    keys.properties().stream().sorted(Map.Entry.comparingByKey())
        .forEach(key -> sorted.set(key.getKey(), key.getValue()));
    return KEYS + sorted;
  }

  ObjectNode toJson() {
    var fields = Json.object();
    if (member && !children.isEmpty()) {
      fields.putObject(ITSELF);
    }
    children.forEach((element, child) -> fields.set(element, child.toJson()));
    return fields;
  }

  boolean isEmpty() {
    return !member && children.isEmpty();
  }

  FieldSet child(String element) {
    return children.getOrDefault(element, EMPTY);
  }

  FieldSet asMember() {
    return member ? this : of(true, children);
  }

  FieldSet union(FieldSet other) {
    return combined(other, Boolean::logicalOr);
  }

  FieldSet intersection(FieldSet other) {
    return combined(other, Boolean::logicalAnd);
  }

  /**
   * The paths that are not in the other set. A path in the other set removes only itself, and no
   * paths below or above it.
   */
  FieldSet difference(FieldSet other) {
    return combined(other, (mine, others) -> mine && !others);
  }

  private FieldSet combined(FieldSet other, Membership membership) {
    var elements = new TreeSet<>(children.keySet());
    elements.addAll(other.children.keySet());
    var all = new TreeMap<String, FieldSet>();
    for (var element : elements) {
      all.put(element, child(element).combined(other.child(element), membership));
    }
    return of(membership.of(member, other.member), all);
  }

  /** The paths in the form of Kubernetes' messages: {@code .spec.containers[name="a"].image}. */
  List<String> paths() {
    var paths = new ArrayList<String>();
    addPaths("", paths);
    return paths;
  }

  private void addPaths(String path, List<String> paths) {
    if (member) {
      paths.add(path);
    }
    children.forEach((element, child) -> child.addPaths(path + shown(element), paths));
  }

  private static String shown(String element) {
    String rest = element.substring(2);
    return switch (element.substring(0, 2)) {
      case FIELD -> "." + rest;
      case KEYS -> Json.MAPPER.readTree(rest).properties().stream()
          .map(key -> key.getKey() + "=" + key.getValue())
          .collect(Collectors.joining(",", "[", "]"));
      case VALUE -> "[=" + rest + "]";
      default -> "[" + rest + "]";
    };
  }
}
