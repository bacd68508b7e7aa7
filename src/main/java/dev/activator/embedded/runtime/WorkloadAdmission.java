package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.StatusException.Cause;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The admission of Deployments and ReplicaSets. It sets defaults, and refuses an invalid selector.
 *
 * <p><b>Source.</b> {@code apis/apps/validation/validation.go} in Kubernetes.
 */
final class WorkloadAdmission {
  private static final String SELECTOR = "spec.selector";
  private static final String LABELS = "spec.template.metadata.labels";

  private WorkloadAdmission() {}

  /** @param stored null for a new object */
  static ObjectNode admit(ObjectNode workload, @Nullable ObjectNode stored) {
    if (workload.get("spec") instanceof ObjectNode spec && !spec.hasNonNull("replicas")) {
      spec.put("replicas", 1);
    }
    // kubectl relies on the API server to set this field.
    workload.at("/spec/template/spec/containers").findValues("grpc").stream()
        .filter(JsonNode::isObject).map(ObjectNode.class::cast)
        .filter(grpc -> !grpc.has("service")).forEach(grpc -> grpc.put("service", ""));
    var causes = causes(workload, stored);
    if (!causes.isEmpty()) {
      throw StatusException.invalid(causes);
    }
    return workload;
  }

  private static List<Cause> causes(ObjectNode workload, @Nullable ObjectNode stored) {
    var selector = workload.at("/spec/selector");
    var causes = new ArrayList<Cause>();
    int replicas = workload.at("/spec/replicas").asInt(1);
    if (replicas < 0) {
      causes.add(new Cause("FieldValueInvalid", "spec.replicas",
          "Invalid value: " + replicas + ": must be greater than or equal to 0"));
    }
    var deadline = workload.at("/spec/progressDeadlineSeconds");
    if (deadline.isInt() && deadline.intValue() <= 0) {
      causes.add(new Cause("FieldValueInvalid", "spec.progressDeadlineSeconds",
          "Invalid value: " + deadline + ": must be greater than minReadySeconds"));
    }
    int before = causes.size();
    if (selector.isMissingNode() || selector.isNull()) {
      causes.add(new Cause("FieldValueRequired", SELECTOR, "Required value"));
    } else if (selector.path("matchLabels").isEmpty()
        && selector.path("matchExpressions").isEmpty()) {
      causes.add(invalid(SELECTOR, selector, "empty selector is invalid for deployment"));
    }
    var labels = workload.at("/spec/template/metadata/labels");
    try {
      boolean empty = !selector.isMissingNode() && causes.size() > before;
      boolean matches = causes.size() == before && ControllerRefs.selector(selector)
          .matches(ObjectMeta.labels(workload.at("/spec/template")));
      if (!empty && !matches) {
        causes.add(invalid(LABELS, labels, "`selector` does not match template `labels`"));
      }
    } catch (IllegalArgumentException e) {
      causes.add(invalid(SELECTOR, selector, String.valueOf(e.getMessage())));
    }
    if (workload.at("/spec/template/spec/containers").isEmpty()) {
      causes.add(new Cause("FieldValueRequired", "spec.template.spec.containers",
          "Required value"));
    }
    if (stored != null && !Json.same(Json.withoutUnset(stored.at("/spec/selector").deepCopy()),
        Json.withoutUnset(selector.deepCopy()))) {
      causes.add(invalid(SELECTOR, selector, "field is immutable"));
    }
    return causes;
  }

  private static Cause invalid(String field, JsonNode value, String why) {
    String shown = value.isMissingNode() ? "null" : value.toString();
    return new Cause("FieldValueInvalid", field, "Invalid value: " + shown + ": " + why);
  }
}
