package dev.activator.embedded.api.store;

import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/**
 * The rules of namespaces: a namespace is created when it is used, and emptied when it is deleted.
 *
 * <p><b>Source.</b> {@code plugin/namespace/lifecycle/admission.go} in Kubernetes' apiserver.
 */
final class NamespaceLifecycle {
  private static final Set<String> IMMORTAL = Set.of("default", "kube-system", "kube-public");

  private NamespaceLifecycle() {}

  static ObjectNode named(String name) {
    var namespace = Json.object().put("apiVersion", "v1").put("kind", "Namespace");
    namespace.putObject("metadata").put("name", name);
    return complete(namespace);
  }

  static ObjectNode complete(ObjectNode namespace) {
    ObjectMeta.of(namespace).withObjectProperty("labels").put("kubernetes.io/metadata.name",
        ObjectMeta.name(namespace));
    if (!namespace.path("spec").has("finalizers")) {
      namespace.withObjectProperty("spec").putArray("finalizers").add("kubernetes");
    }
    namespace.withObjectProperty("status").put("phase", "Active");
    return namespace;
  }

  static void checkMortal(String name) {
    if (IMMORTAL.contains(name)) {
      throw StatusException.forbidden(BuiltInKinds.NAMESPACE, name,
          "this namespace may not be deleted");
    }
  }

  static void checkOpen(ObjectNode namespace, Kind kind, ObjectNode object) {
    if (ObjectMeta.terminating(namespace)) {
      throw StatusException.namespaceTerminating(kind, ObjectMeta.name(object),
          ObjectMeta.name(namespace));
    }
  }
}
