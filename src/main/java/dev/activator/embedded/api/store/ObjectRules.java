package dev.activator.embedded.api.store;

import dev.activator.embedded.api.policy.ObjectNames;
import dev.activator.embedded.api.store.Kind.Trait;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

final class ObjectRules {
  private static final List<String> OWNED_BY_SERVER = List.of("uid", "resourceVersion",
      "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
      "selfLink", "managedFields");

  private static final List<String> TEXTS = List.of("name", "namespace", "generateName", "uid",
      "resourceVersion", "creationTimestamp", "deletionTimestamp");

  private ObjectRules() {}

  /** Sets kind and version where absent. */
  static void formed(Kind kind, ObjectNode object) {
    if (Json.depth(object) > Json.DEEPEST) {
      throw StatusException
          .badRequest("the object is nested deeper than " + Json.DEEPEST + " levels");
    }
    String version = text(kind, object, "", "apiVersion");
    String name = text(kind, object, "", "kind");
    boolean right = (version.isEmpty() || version.equals(kind.apiVersion()))
        && (name.isEmpty() || name.equals(kind.kind()));
    if (!right) {
      throw StatusException.badRequest("%s in version \"%s\" cannot be handled as a %s of %s"
          .formatted(name, version, kind.kind(), kind.apiVersion()));
    }
    object.put("apiVersion", kind.apiVersion()).put("kind", kind.kind());
    var metadata = object.path("metadata");
    if (!metadata.isMissingNode() && !metadata.isNull()) {
      checkMetadata(kind, metadata);
    }
  }

  private static void checkMetadata(Kind kind, JsonNode metadata) {
    check(kind, metadata.isObject(), "metadata", "an object");
    TEXTS.forEach(field -> text(kind, metadata, "metadata.", field));
    for (var field : List.of("labels", "annotations")) {
      var texts = metadata.path(field);
      check(kind, absent(texts) || texts.isObject()
          && texts.valueStream().allMatch(JsonNode::isString), "metadata." + field,
          "a map of strings");
    }
    var finalizers = metadata.path("finalizers");
    check(kind, absent(finalizers) || finalizers.isArray()
        && finalizers.valueStream().allMatch(JsonNode::isString), "metadata.finalizers",
        "a list of strings");
    var owners = metadata.path("ownerReferences");
    check(kind, absent(owners) || owners.isArray()
        && owners.valueStream().allMatch(JsonNode::isObject), "metadata.ownerReferences",
        "a list of objects");
  }

  private static String text(Kind kind, JsonNode parent, String prefix, String field) {
    var value = parent.path(field);
    check(kind, absent(value) || value.isString(), prefix + field, "a string");
    return value.stringValue("");
  }

  private static boolean absent(JsonNode value) {
    return value.isMissingNode() || value.isNull();
  }

  private static void check(Kind kind, boolean right, String field, String expected) {
    if (!right) {
      throw StatusException
          .badRequest("%s in version \"%s\" cannot be handled as a %s: %s must be %s"
              .formatted(kind.kind(), kind.apiVersion(), kind.kind(), field, expected));
    }
  }

  static void writable(ObjectNode object) {
    try {
      Json.bytes(object);
    } catch (JacksonException unwritable) {
      throw StatusException
          .badRequest("the object cannot be written as JSON: " + unwritable.getOriginalMessage());
    }
  }

  static void stripped(ObjectNode object) {
    Meta.of(object).remove(OWNED_BY_SERVER);
  }

  static void placed(Kind kind, ObjectNode object) {
    if (!kind.namespaced()) {
      Meta.of(object).remove("namespace");
    } else if (Meta.namespace(object).isEmpty()) {
      throw StatusException.required("metadata.namespace", "an object of this kind lives in one");
    }
  }

  static void named(Kind kind, ObjectNode object) {
    String name = Meta.name(object);
    if (name.isEmpty()) {
      throw StatusException.required("metadata.name", "name or generateName is required");
    }
    var problem = kind.has(Trait.NAME_IS_LABEL)
        ? ObjectNames.problemAsLabel(name)
        : ObjectNames.problemAsSubdomain(name);
    problem.ifPresent(text -> {
      throw StatusException.invalid("metadata.name",
          "Invalid value: \"%s\": %s".formatted(name, text));
    });
  }
}
