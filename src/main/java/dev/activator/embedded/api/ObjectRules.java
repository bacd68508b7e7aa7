package dev.activator.embedded.api;

import dev.activator.embedded.api.Kind.Trait;
import dev.activator.embedded.api.policy.ObjectNames;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** What must hold of an object whoever writes it. */
final class ObjectRules {
  private static final List<String> OWNED_BY_SERVER = List.of("uid", "resourceVersion",
      "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
      "selfLink", "managedFields");

  private ObjectRules() {}

  /** Makes the object say which kind it is, if it is this kind or does not say. */
  static void typed(Kind kind, ObjectNode object) {
    String version = object.path("apiVersion").stringValue("");
    String name = object.path("kind").stringValue("");
    boolean right = (version.isEmpty() || version.equals(kind.apiVersion()))
        && (name.isEmpty() || name.equals(kind.kind()));
    if (!right) {
      throw ApiException.badRequest("%s in version \"%s\" cannot be handled as a %s of %s"
          .formatted(name, version, kind.kind(), kind.apiVersion()));
    }
    object.put("apiVersion", kind.apiVersion()).put("kind", kind.kind());
  }

  /** Drops what only the server writes. */
  static void stripped(ObjectNode object) {
    Meta.of(object).remove(OWNED_BY_SERVER);
  }

  static void placed(Kind kind, ObjectNode object) {
    if (!kind.namespaced()) {
      Meta.of(object).remove("namespace");
    } else if (Meta.namespace(object).isEmpty()) {
      throw ApiException.required("metadata.namespace", "an object of this kind lives in one");
    }
  }

  static void named(Kind kind, ObjectNode object) {
    String name = Meta.name(object);
    if (name.isEmpty()) {
      throw ApiException.required("metadata.name", "name or generateName is required");
    }
    var problem = kind.has(Trait.NAME_IS_LABEL)
        ? ObjectNames.problemAsLabel(name)
        : ObjectNames.problemAsSubdomain(name);
    problem.ifPresent(text -> {
      throw ApiException.invalid("metadata.name",
          "Invalid value: \"%s\": %s".formatted(name, text));
    });
  }
}
