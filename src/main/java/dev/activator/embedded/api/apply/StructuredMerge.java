package dev.activator.embedded.api.apply;

import dev.activator.embedded.api.schema.MergeSchema;
import dev.activator.embedded.api.schema.MergeSchema.Merging;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.StatusException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Lists, compares and merges the fields of two values. The shape of a value defines how.
 *
 * <p><b>Source.</b> {@code typed} in sigs.k8s.io/structured-merge-diff.
 *
 * <p><b>Errors.</b> {@link StatusException} if an item of a list has no keys.
 */
final class StructuredMerge {
  private StructuredMerge() {}

  /**
   * The differences between two values: paths that only the second has, paths with different
   * values, and paths that only the first has.
   */
  record Changes(FieldSet added, FieldSet modified, FieldSet removed) {
    private static final Changes NONE = new Changes(FieldSet.EMPTY, FieldSet.EMPTY,
        FieldSet.EMPTY);

    /** The paths that are new or different in the second value. */
    FieldSet written() {
      return added.union(modified);
    }
  }

  /** Whether a value is compared and owned as a whole. */
  private static boolean isLeaf(MergeSchema shape, JsonNode value) {
    return switch (value) {
      case ObjectNode _ -> shape.merging() == Merging.ATOMIC;
      case ArrayNode _ -> !isAssociative(shape);
      default -> true;
    };
  }

  private static boolean isAssociative(MergeSchema shape) {
    return shape.merging() == Merging.SET || shape.merging() == Merging.KEYED;
  }

  /** The paths of all leaves and list items. */
  static FieldSet fields(MergeSchema shape, JsonNode value) {
    if (isLeaf(shape, value)) {
      return FieldSet.MEMBER;
    }
    var children = new TreeMap<String, FieldSet>();
    if (value instanceof ArrayNode list) {
      items(shape, list).forEach((element, items) -> children.put(element, items.size() > 1
          ? FieldSet.MEMBER
          : fields(shape.others().get(), items.getFirst()).asMember()));
    } else {
      value.properties().forEach(entry -> {
        var child = fields(shape.field(entry.getKey()), entry.getValue());
        boolean whole = entry.getValue().isObject() && entry.getValue().isEmpty()
            || !shape.declares(entry.getKey());
        children.put(FieldSet.field(entry.getKey()), whole ? child.asMember() : child);
      });
    }
    return FieldSet.of(false, children);
  }

  /** Compares two values. One of them may be missing. */
  static Changes compare(MergeSchema shape, @Nullable JsonNode before, @Nullable JsonNode after) {
    var one = before == null && shape.required() && after instanceof ObjectNode
        ? Json.object()
        : before;
    var other = after == null && shape.required() && before instanceof ObjectNode
        ? Json.object()
        : after;
    if (areLeaf(shape, one, other)) {
      return leaf(one, other);
    }
    var added = new TreeMap<String, FieldSet>();
    var modified = new TreeMap<String, FieldSet>();
    var removed = new TreeMap<String, FieldSet>();
    var parts = one instanceof ArrayNode || other instanceof ArrayNode
        ? itemChanges(shape, one, other)
        : fieldChanges(shape, one, other);
    parts.forEach((element, part) -> {
      added.put(element, part.added());
      modified.put(element, part.modified());
      removed.put(element, part.removed());
    });
    return new Changes(FieldSet.of(one == null, added), FieldSet.of(false, modified),
        FieldSet.of(other == null, removed));
  }

  private static Changes leaf(@Nullable JsonNode before, @Nullable JsonNode after) {
    if (before == null) {
      return new Changes(FieldSet.MEMBER, FieldSet.EMPTY, FieldSet.EMPTY);
    }
    if (after == null) {
      return new Changes(FieldSet.EMPTY, FieldSet.EMPTY, FieldSet.MEMBER);
    }
    return Json.same(before, after)
        ? Changes.NONE
        : new Changes(FieldSet.EMPTY, FieldSet.MEMBER, FieldSet.EMPTY);
  }

  /**
   * Whether both values are compared as a whole. If the other value is an object or a list, null
   * counts as an empty one.
   */
  private static boolean areLeaf(MergeSchema shape, @Nullable JsonNode one,
      @Nullable JsonNode other) {
    var first = one == null || one.isNull() ? null : one;
    var second = other == null || other.isNull() ? null : other;
    boolean alike = first == null || second == null || first.getNodeType() == second.getNodeType();
    boolean empty = (first == null || first.isEmpty()) && (second == null || second.isEmpty());
    return !alike || empty || first != null && isLeaf(shape, first)
        || second != null && isLeaf(shape, second);
  }

  private static Map<String, Changes> fieldChanges(MergeSchema shape, @Nullable JsonNode before,
      @Nullable JsonNode after) {
    var names = new LinkedHashSet<String>();
    var parts = new TreeMap<String, Changes>();
    for (var one : new @Nullable JsonNode[]{before, after}) {
      if (one != null) {
        names.addAll(one.propertyNames());
      }
    }
    for (var name : names) {
      parts.put(FieldSet.field(name), compare(shape.field(name),
          before == null ? null : before.get(name), after == null ? null : after.get(name)));
    }
    return parts;
  }

  private static Map<String, Changes> itemChanges(MergeSchema shape, @Nullable JsonNode before,
      @Nullable JsonNode after) {
    var from = items(shape, before);
    var to = items(shape, after);
    var elements = new LinkedHashSet<>(from.keySet());
    elements.addAll(to.keySet());
    var parts = new TreeMap<String, Changes>();
    for (var element : elements) {
      parts.put(element, itemChanges(shape.others().get(), from.getOrDefault(element, List.of()),
          to.getOrDefault(element, List.of())));
    }
    return parts;
  }

  /** Compares list items with the same keys. Several such items count as one value. */
  private static Changes itemChanges(MergeSchema shape, List<JsonNode> before,
      List<JsonNode> after) {
    var one = before.isEmpty() ? null : before.getFirst();
    var other = after.isEmpty() ? null : after.getFirst();
    if (before.size() <= 1 && after.size() <= 1) {
      return compare(shape, one, other);
    }
    if (before.size() > 1 && after.size() > 1) {
      return before.equals(after)
          ? Changes.NONE
          : new Changes(FieldSet.EMPTY, FieldSet.MEMBER, FieldSet.EMPTY);
    }
    if (before.size() > 1) {
      var now = other == null ? Changes.NONE : compare(shape, null, other);
      return new Changes(now.added(), now.modified(), now.removed().asMember());
    }
    var then = one == null ? Changes.NONE : compare(shape, one, null);
    return new Changes(then.added().asMember(), then.modified(), then.removed());
  }

  /** Merges two values: the result is the second value, plus the fields that only the first has. */
  static JsonNode merge(MergeSchema shape, @Nullable JsonNode live, JsonNode config) {
    if (areLeaf(shape, live, config)) {
      return config;
    }
    if (live != null && config.isNull()) {
      return live;
    }
    if (config instanceof ArrayNode wanted) {
      return mergeLists(shape,
          live instanceof ArrayNode present ? present : Json.MAPPER.createArrayNode(), wanted);
    }
    var before = live instanceof ObjectNode present ? present : Json.object();
    var merged = before.deepCopy();
    config.properties().forEach(entry -> merged.set(entry.getKey(),
        merge(shape.field(entry.getKey()), before.get(entry.getKey()), entry.getValue())));
    return merged;
  }

  /**
   * Merges two lists. Items that are in both have the order of {@code config}. An item that is only
   * in {@code live} stays before the item that followed it.
   */
  private static ArrayNode mergeLists(MergeSchema shape, ArrayNode live, ArrayNode config) {
    var present = items(shape, live);
    var wanted = items(shape, config);
    wanted.forEach((element, items) -> {
      if (items.size() > 1) {
        throw StatusException.badRequest("duplicate entries for key " + element.substring(2));
      }
    });
    var merged = Json.MAPPER.createArrayNode();
    var order = new ArrayList<>(wanted.keySet());
    var shared = new ArrayList<>(order);
    shared.retainAll(present.keySet());
    var done = new HashSet<String>();
    int next = 0;
    for (var item : live) {
      String element = element(shape, item);
      if (!wanted.containsKey(element)) {
        merged.add(item);
        continue;
      }
      if (done.contains(element) || !element.equals(firstLeft(shared, done))) {
        continue;
      }
      for (; !done.contains(element); next++) {
        add(merged, shape, order.get(next), present, wanted);
        done.add(order.get(next));
      }
    }
    for (; next < order.size(); next++) {
      add(merged, shape, order.get(next), present, wanted);
    }
    return merged;
  }

  private static @Nullable String firstLeft(Collection<String> shared, Collection<String> done) {
    return shared.stream().filter(element -> !done.contains(element)).findFirst().orElse(null);
  }

  private static void add(ArrayNode merged, MergeSchema shape, String element,
      Map<String, List<JsonNode>> present, Map<String, List<JsonNode>> wanted) {
    var before = present.getOrDefault(element, List.of());
    var item = wanted.getOrDefault(element, List.of()).getFirst();
    merged.add(merge(shape.others().get(), before.size() == 1 ? before.getFirst() : null, item));
  }

  /** Removes fields from a value. The result is a JSON null if nothing is left. */
  static JsonNode remove(MergeSchema shape, JsonNode value, FieldSet fields) {
    if (fields.isEmpty() || isLeaf(shape, value)) {
      return value;
    }
    if (value instanceof ArrayNode list) {
      var left = Json.MAPPER.createArrayNode();
      for (var item : list) {
        var gone = fields.child(element(shape, item));
        if (!gone.member()) {
          left.add(remove(shape.others().get(), item, gone));
        }
      }
      return left.isEmpty() ? NullNode.getInstance() : left;
    }
    var left = Json.object();
    value.properties().forEach(entry -> {
      var gone = fields.child(FieldSet.field(entry.getKey()));
      if (!gone.member()) {
        left.set(entry.getKey(), remove(shape.field(entry.getKey()), entry.getValue(), gone));
      }
    });
    return left.isEmpty() ? NullNode.getInstance() : left;
  }

  /**
   * The set, extended by the declared fields that contain a member. They are removed when all
   * fields below them are.
   */
  static FieldSet withDeclared(MergeSchema shape, FieldSet fields) {
    var children = new TreeMap<String, FieldSet>();
    fields.children().forEach((element, child) -> {
      boolean field = element.startsWith(FieldSet.field(""));
      String name = element.substring(2);
      var deeper = withDeclared(field ? shape.field(name) : shape.others().get(), child);
      children.put(element, field && shape.declares(name) ? deeper.asMember() : deeper);
    });
    return FieldSet.of(fields.member(), children);
  }

  private static Map<String, List<JsonNode>> items(MergeSchema shape, @Nullable JsonNode list) {
    var items = new LinkedHashMap<String, List<JsonNode>>();
    if (list != null) {
      list.forEach(item -> items.computeIfAbsent(element(shape, item), _ -> new ArrayList<>())
          .add(item));
    }
    return items;
  }

  private static String element(MergeSchema shape, JsonNode item) {
    if (shape.merging() == Merging.SET) {
      return FieldSet.value(item);
    }
    var keys = Json.object();
    for (var key : shape.keys()) {
      var value = item.has(key) ? item.get(key) : shape.others().get().field(key).fallback();
      if (value != null) {
        keys.set(key, value);
      }
    }
    if (keys.isEmpty()) {
      throw StatusException.badRequest("associative list with keys has an element that omits all"
          + " key fields " + shape.keys());
    }
    return FieldSet.keys(keys);
  }
}
