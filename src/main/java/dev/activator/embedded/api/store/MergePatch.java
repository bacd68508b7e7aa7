package dev.activator.embedded.api.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Applies merge patches and strategic merge patches. Objects are merged, null removes a field, and
 * any other value replaces it. In strategic merge patches, the members of some lists are merged by
 * their keys.
 *
 * <p><b>Source.</b> RFC 7386; {@code util/strategicpatch/patch.go} in Kubernetes' apimachinery, and
 * the {@code patchMergeKey} tags of {@code core/v1/types.go}.
 */
public final class MergePatch {
  private static final String DIRECTIVE = "$patch";
  private static final String DELETE_VALUES = "$deleteFromPrimitiveList/";
  /** The list to which a strategic merge patch adds values. */
  private static final String SET = "finalizers";
  private static final Map<String, String> MERGE_KEYS = Map.ofEntries(
      Map.entry("containers", "name"),
      Map.entry("initContainers", "name"), Map.entry("ephemeralContainers", "name"),
      Map.entry("volumes", "name"), Map.entry("env", "name"),
      Map.entry("volumeMounts", "mountPath"), Map.entry("imagePullSecrets", "name"),
      Map.entry("ownerReferences", "uid"), Map.entry("conditions", "type"),
      Map.entry("hostAliases", "ip"), Map.entry("secrets", "name"));

  private MergePatch() {}

  public static JsonNode apply(JsonNode target, JsonNode patch) {
    if (!(patch instanceof ObjectNode changes)) {
      return patch;
    }
    var result = target instanceof ObjectNode object ? object.deepCopy() : Json.object();
    for (var change : changes.properties()) {
      String name = change.getKey();
      if (change.getValue().isNull()) {
        result.remove(name);
      } else {
        result.set(name, apply(result.path(name), change.getValue()));
      }
    }
    return result;
  }

  /**
   * Applies a strategic merge patch. Directives about the order, and about keys to keep, are
   * ignored.
   */
  public static ObjectNode strategic(ObjectNode target, ObjectNode patch) {
    return merge(target, patch, "");
  }

  private static ObjectNode merge(ObjectNode target, ObjectNode patch, String parent) {
    if (directive(patch).equals("replace")) {
      return patch.deepCopy().without(DIRECTIVE);
    }
    if (directive(patch).equals("delete")) {
      return Json.object();
    }
    var result = target.deepCopy();
    for (var change : patch.properties()) {
      String name = change.getKey();
      if (name.startsWith(DELETE_VALUES)) {
        deleteValues(result, name.substring(DELETE_VALUES.length()), change.getValue());
      } else if (!name.startsWith("$")) {
        change(result, name, change.getValue(), parent);
      }
    }
    return result;
  }

  private static void change(ObjectNode result, String name, JsonNode value, String parent) {
    switch (value) {
      case ObjectNode changes -> result.set(name, merge(
          result.get(name) instanceof ObjectNode present ? present : Json.object(), changes, name));
      case ArrayNode changes -> result.set(name, list(result.get(name), changes, parent, name));
      default -> {
        if (value.isNull()) {
          result.remove(name);
        } else {
          result.set(name, value);
        }
      }
    }
  }

  private static JsonNode list(@Nullable JsonNode present, ArrayNode changes, String parent,
      String name) {
    var old = present instanceof ArrayNode array ? array : JsonNodeFactory.instance.arrayNode();
    if (name.equals(SET)) {
      return union(old, changes);
    }
    var key = mergeKey(parent, name);
    return key.isEmpty() ? changes.deepCopy() : members(old, changes, key.get(), name);
  }

  private static ArrayNode members(ArrayNode old, ArrayNode changes, String key, String name) {
    List<JsonNode> members = new ArrayList<>();
    old.forEach(members::add);
    for (var change : changes) {
      if (directive(change).equals("replace") && !change.has(key)) {
        members.clear();
      } else if (change instanceof ObjectNode member) {
        mergeMember(members, member, key, name);
      }
    }
    return JsonNodeFactory.instance.arrayNode().addAll(members);
  }

  private static void mergeMember(List<JsonNode> members, ObjectNode change, String key,
      String name) {
    int index = 0;
    while (index < members.size() && !Json.same(members.get(index).path(key), change.path(key))) {
      index++;
    }
    boolean known = index < members.size();
    if (directive(change).equals("delete")) {
      if (known) {
        members.remove(index);
      }
    } else if (known && members.get(index) instanceof ObjectNode member) {
      members.set(index, merge(member, change, name));
    } else {
      members.add(merge(Json.object(), change, name));
    }
  }

  private static ArrayNode union(ArrayNode old, ArrayNode changes) {
    var all = old.deepCopy();
    for (var value : changes) {
      if (all.valueStream().noneMatch(value::equals)) {
        all.add(value);
      }
    }
    return all;
  }

  private static void deleteValues(ObjectNode result, String name, JsonNode values) {
    if (result.get(name) instanceof ArrayNode present) {
      result.set(name, JsonNodeFactory.instance.arrayNode().addAll(present.valueStream()
          .filter(value -> values.valueStream().noneMatch(value::equals)).toList()));
    }
  }

  private static String directive(JsonNode node) {
    return node.path(DIRECTIVE).stringValue("");
  }

  /**
   * The key by which the members of a list are merged; empty if they are not merged.
   *
   * @param parent the field that contains the object with the list; for a member of a list, the
   *     name of that list
   */
  private static Optional<String> mergeKey(String parent, String field) {
    if (!field.equals("ports")) {
      return Optional.ofNullable(MERGE_KEYS.get(field));
    }
    return switch (parent) {
      case "spec" -> Optional.of("port");
      case "containers", "initContainers" -> Optional.of("containerPort");
      default -> Optional.empty();
    };
  }
}
