package dev.activator.embedded.api.store;

import dev.activator.embedded.api.policy.ObjectNames;
import dev.activator.embedded.api.store.Kind.Trait;
import dev.activator.embedded.api.store.StatusException.Cause;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Checks an object before it is stored: its form, name and namespace. */
final class ObjectRules {
  private static final List<String> OWNED_BY_SERVER = List.of("uid", "resourceVersion",
      "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
      "selfLink");

  private static final Set<String> STANDARD_FINALIZERS = Set.of(ObjectMeta.ORPHAN,
      ObjectMeta.FOREGROUND, "kubernetes");

  private ObjectRules() {}

  /**
   * Checks the form of an object. Sets the kind and version if they are absent. Removes what is
   * empty in the metadata, as Go's encoder does.
   */
  static void formed(Kind kind, ObjectNode object) {
    if (Json.depth(object) > Json.MAX_DEPTH) {
      throw StatusException
          .badRequest("the object is nested deeper than " + Json.MAX_DEPTH + " levels");
    }
    String version = text(kind, object, "apiVersion");
    String name = text(kind, object, "kind");
    boolean right = (version.isEmpty() || version.equals(kind.apiVersion()))
        && (name.isEmpty() || name.equals(kind.kind()));
    if (!right) {
      throw StatusException.badRequest("%s in version \"%s\" cannot be handled as a %s of %s"
          .formatted(name, version, kind.kind(), kind.apiVersion()));
    }
    object.put("apiVersion", kind.apiVersion()).put("kind", kind.kind());
    if (object.get("metadata") instanceof ObjectNode metadata) {
      metadata.properties().removeIf(
          field -> field.getValue().isContainer() && field.getValue().isEmpty());
    }
  }

  /** Checks labels and annotations, those of a template for pods too, and the keys of data. */
  static void wellNamed(Kind kind, ObjectNode object) {
    var causes = new ArrayList<Cause>();
    wellNamed(causes, "metadata", object.path("metadata"));
    owned(causes, object.path("metadata").path("ownerReferences"));
    if (kind.has(Trait.BUILT_IN)) {
      finalized(causes, object.path("metadata").path("finalizers"));
    }
    if (kind.has(Trait.BUILT_IN)) {
      wellNamed(causes, "spec.template", object.at("/spec/template/metadata"));
    }
    boolean hasData = kind.equals(BuiltInKinds.CONFIG_MAP) || kind.equals(BuiltInKinds.SECRET);
    for (var bag : hasData ? List.of("data", "binaryData") : List.<String>of()) {
      object.path(bag).propertyNames().forEach(
          key -> add(causes, bag + "[" + key + "]", key, ObjectNames.problemAsDataKey(key)));
    }
    if (!causes.isEmpty()) {
      throw StatusException.invalid(causes);
    }
  }

  private static void wellNamed(List<Cause> causes, String field, JsonNode metadata) {
    metadata.path("labels").properties().forEach(label -> {
      add(causes, field + ".labels", label.getKey(), ObjectNames.problemAsKey(label.getKey()));
      String value = label.getValue().asString("");
      add(causes, field + ".labels", value, ObjectNames.problemAsLabelValue(value));
    });
    metadata.path("annotations").propertyNames().forEach(key -> add(causes, field + ".annotations",
        key, ObjectNames.problemAsKey(key.toLowerCase(Locale.ROOT))));
  }

  private static void owned(List<Cause> causes, JsonNode references) {
    for (var reference : references) {
      for (var field : List.of("apiVersion", "kind", "name", "uid")) {
        if (reference.path(field).asString("").isEmpty()) {
          add(causes, "metadata.ownerReferences." + field, "", Optional.of("must not be empty"));
        }
      }
    }
    var controllers = references.valueStream()
        .filter(reference -> reference.path("controller").asBoolean(false))
        .map(reference -> reference.path("name").asString("")).toList();
    if (controllers.size() > 1) {
      causes.add(new Cause("FieldValueInvalid", "metadata.ownerReferences",
          "Invalid value: only one"
              + " reference can have controller set to true, but "
              + String.join(" and ", controllers)
              + " have"));
    }
  }

  private static void finalized(List<Cause> causes, JsonNode finalizers) {
    for (int i = 0; i < finalizers.size(); i++) {
      String name = finalizers.get(i).asString("");
      if (!STANDARD_FINALIZERS.contains(name)) {
        add(causes, "metadata.finalizers[" + i + "]", name, name.indexOf('/') < 0
            ? Optional.of("name is neither a standard finalizer name nor is it fully qualified")
            : ObjectNames.problemAsKey(name));
      }
    }
  }

  private static void add(List<Cause> causes, String field, String value,
      Optional<String> problem) {
    problem.ifPresent(text -> causes.add(
        new Cause("FieldValueInvalid", field, "Invalid value: \"" + value + "\": " + text)));
  }

  private static String text(Kind kind, ObjectNode object, String field) {
    var value = object.path(field);
    if (!value.isMissingNode() && !value.isNull() && !value.isString()) {
      throw StatusException.badRequest("%s in version \"%s\" cannot be handled as a %s: %s must be"
          .formatted(kind.kind(), kind.apiVersion(), kind.kind(), field) + " a string");
    }
    return value.stringValue("");
  }

  static void writable(ObjectNode object) {
    try {
      Json.bytes(object);
    } catch (JacksonException e) {
      throw StatusException
          .badRequest("the object cannot be written as JSON: " + e.getOriginalMessage());
    }
  }

  static void stripped(ObjectNode object) {
    ObjectMeta.of(object).remove(OWNED_BY_SERVER);
  }

  static void placed(Kind kind, ObjectNode object) {
    if (!kind.namespaced()) {
      ObjectMeta.of(object).remove("namespace");
    } else if (ObjectMeta.namespace(object).isEmpty()) {
      throw StatusException.required("metadata.namespace", "an object of this kind lives in one");
    }
  }

  static void named(Kind kind, ObjectNode object) {
    String name = ObjectMeta.name(object);
    if (name.isEmpty()) {
      throw StatusException.required("metadata.name", "name or generateName is required");
    }
    var problem = kind.has(Trait.NAME_IS_LABEL)
        ? ObjectNames.problemAsLabel(name)
        : kind.has(Trait.NAME_IS_PATH_SEGMENT)
            ? ObjectNames.problemAsPathSegment(name)
            : ObjectNames.problemAsSubdomain(name);
    problem.ifPresent(text -> {
      throw StatusException.invalid("metadata.name",
          "Invalid value: \"%s\": %s".formatted(name, text));
    });
  }
}
