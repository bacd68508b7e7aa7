package dev.activator.embedded.runtime;

import dev.activator.embedded.api.policy.LabelSelector;
import dev.activator.embedded.api.policy.LabelSelector.Absent;
import dev.activator.embedded.api.policy.LabelSelector.Exists;
import dev.activator.embedded.api.policy.LabelSelector.In;
import dev.activator.embedded.api.policy.LabelSelector.NotIn;
import dev.activator.embedded.api.policy.LabelSelector.Requirement;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import java.util.ArrayList;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The rules by which an object controls another object, and may adopt it.
 *
 * <p><b>Source.</b> {@code controller_ref_manager.go} and {@code meta/v1/helpers.go} in Kubernetes.
 */
final class ControllerRefs {
  private ControllerRefs() {}

  /** The reference to the object's controller; a missing node if it has none. */
  static JsonNode controller(JsonNode object) {
    return object.path("metadata").path("ownerReferences").valueStream()
        .filter(owner -> owner.path("controller").asBoolean(false)).findFirst()
        .orElseGet(MissingNode::getInstance);
  }

  static String controllerUid(JsonNode object) {
    return controller(object).path("uid").asString("");
  }

  static boolean controls(JsonNode owner, JsonNode object) {
    return controllerUid(object).equals(ObjectMeta.uid(owner));
  }

  static void setController(ObjectNode object, Kind kind, JsonNode owner) {
    ObjectMeta.of(object).withArrayProperty("ownerReferences").addObject()
        .put("apiVersion", kind.apiVersion()).put("kind", kind.kind())
        .put("name", ObjectMeta.name(owner))
        .put("uid", ObjectMeta.uid(owner)).put("controller", true).put("blockOwnerDeletion", true);
  }

  /** Whether a Deployment or ReplicaSet may adopt this object. */
  static boolean mayAdopt(JsonNode workload, JsonNode object) {
    return ObjectMeta.namespace(workload).equals(ObjectMeta.namespace(object))
        && controller(object).isMissingNode() && !ObjectMeta.terminating(object)
        && !ObjectMeta.terminating(workload)
        && selector(workload.at("/spec/selector")).matches(ObjectMeta.labels(object));
  }

  /** Parses a label selector. <b>Errors.</b> IllegalArgumentException for an unknown operator. */
  static LabelSelector selector(JsonNode selector) {
    var requirements = new ArrayList<Requirement>();
    selector.path("matchLabels").properties().forEach(
        label -> requirements.add(new In(label.getKey(), Set.of(label.getValue().asString("")))));
    for (var expression : selector.path("matchExpressions")) {
      String key = expression.path("key").asString("");
      Set<String> values = expression.path("values").valueStream()
          .map(value -> value.asString("")).collect(Collectors.toSet());
      requirements.add(switch (expression.path("operator").asString("")) {
        case "In" -> new In(key, values);
        case "NotIn" -> new NotIn(key, values);
        case "Exists" -> new Exists(key);
        case "DoesNotExist" -> new Absent(key);
        default -> throw new IllegalArgumentException("not a valid label selector operator");
      });
    }
    return new LabelSelector(requirements);
  }
}
