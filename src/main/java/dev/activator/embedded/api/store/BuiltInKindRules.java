package dev.activator.embedded.api.store;

import dev.activator.embedded.api.policy.ObjectNames;
import dev.activator.embedded.api.store.StatusException.Cause;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Sets the defaults of written objects, and refuses changes of immutable fields, like the API
 * server of a cluster.
 *
 * <p><b>Source.</b> {@code apis/core/v1/defaults.go} and {@code conversion.go},
 * {@code apis/core/validation/validation.go} and {@code apis/discovery/v1/defaults.go} in
 * Kubernetes.
 */
final class BuiltInKindRules {
  private static final String FIXED_SPEC = "pod updates may not change fields other than"
      + " `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
      + "`spec.tolerations` (only additions to existing tolerations),"
      + "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
  private static final List<String> MUTABLE = List.of("activeDeadlineSeconds", "tolerations",
      "terminationGracePeriodSeconds");

  private static final int MAX_PORT = 65_535;

  private BuiltInKindRules() {}

  /** @param stored null for a new object */
  static ObjectNode pod(ObjectNode pod, @Nullable ObjectNode stored) {
    if (stored != null && !Json.same(fixedSpec(stored), fixedSpec(pod))) {
      throw StatusException.forbidden("spec", FIXED_SPEC);
    }
    if (stored == null) {
      pod.withObjectProperty("status").put("phase", "Pending");
    }
    return pod;
  }

  private static JsonNode fixedSpec(ObjectNode pod) {
    var spec = pod.path("spec").deepCopy();
    if (spec instanceof ObjectNode object) {
      object.remove(MUTABLE);
    }
    Stream.of("containers", "initContainers").flatMap(list -> spec.path(list).valueStream())
        .forEach(container -> {
          if (container instanceof ObjectNode one) {
            one.remove("image");
          }
        });
    return Json.withoutUnset(spec);
  }

  /** @param stored null for a new object */
  static ObjectNode secret(ObjectNode secret, @Nullable ObjectNode stored) {
    if (secret.remove("stringData") instanceof ObjectNode texts && !texts.isEmpty()) {
      var data = secret.get("data") instanceof ObjectNode given ? given : secret.putObject("data");
      texts.properties().forEach(text -> data.put(text.getKey(), Base64.getEncoder()
          .encodeToString(text.getValue().asString("").getBytes(StandardCharsets.UTF_8))));
    }
    fill(secret, "type", "Opaque");
    if (stored != null && !secret.path("type").equals(stored.path("type"))) {
      throw StatusException.invalid("type",
          "Invalid value: " + secret.path("type") + ": field is immutable");
    }
    return secret;
  }

  static ObjectNode service(ObjectNode service) {
    if (service.get("spec") instanceof ObjectNode spec) {
      checkPorts(spec);
      fill(spec, "type", "ClusterIP");
      fill(spec, "sessionAffinity", "None");
      for (var port : spec.path("ports")) {
        if (port instanceof ObjectNode one) {
          fill(one, "protocol", "TCP");
          if (!one.hasNonNull("targetPort")) {
            one.set("targetPort", one.path("port"));
          }
        }
      }
    }
    return service;
  }

  private static void checkPorts(ObjectNode spec) {
    var ports = spec.path("ports");
    var type = spec.path("type").asString("");
    if (ports.isEmpty() && !type.equals("ExternalName")
        && !spec.path("clusterIP").asString("").equals("None")) {
      throw StatusException.invalid(List.of(required("spec.ports")));
    }
    var causes = new ArrayList<Cause>();
    var names = new HashSet<String>();
    for (int i = 0; i < ports.size(); i++) {
      String field = "spec.ports[" + i + "]";
      String name = ports.path(i).path("name").asString("");
      int number = ports.path(i).path("port").asInt(0);
      if (name.isEmpty() && ports.size() > 1) {
        causes.add(required(field + ".name"));
      } else if (!name.isEmpty() && !names.add(name)) {
        causes.add(new Cause("FieldValueDuplicate", field + ".name",
            "Duplicate value: \"" + name + '"'));
      } else if (!name.isEmpty()) {
        ObjectNames.problemAsLabel(name).ifPresent(text -> causes.add(new Cause(
            "FieldValueInvalid", field + ".name", "Invalid value: \"" + name + "\": " + text)));
      }
      if (number < 1 || number > MAX_PORT) {
        causes.add(new Cause("FieldValueInvalid", field + ".port",
            "Invalid value: " + number + ": must be between 1 and 65535, inclusive"));
      }
    }
    if (!causes.isEmpty()) {
      throw StatusException.invalid(causes);
    }
  }

  private static Cause required(String field) {
    return new Cause("FieldValueRequired", field, "Required value");
  }

  private static void fill(ObjectNode object, String field, String value) {
    if (object.path(field).asString("").isEmpty()) {
      object.put(field, value);
    }
  }

  static ObjectNode lease(ObjectNode lease) {
    var causes = new ArrayList<Cause>();
    var spec = lease.path("spec");
    if (spec.path("leaseDurationSeconds").asInt(1) <= 0) {
      causes.add(new Cause("FieldValueInvalid", "spec.leaseDurationSeconds",
          "Invalid value: " + spec.path("leaseDurationSeconds") + ": must be greater than 0"));
    }
    if (spec.path("leaseTransitions").asInt(0) < 0) {
      causes.add(new Cause("FieldValueInvalid", "spec.leaseTransitions", "Invalid value: "
          + spec.path("leaseTransitions") + ": must be greater than or equal to 0"));
    }
    if (!causes.isEmpty()) {
      throw StatusException.invalid(causes);
    }
    return lease;
  }

  /** Sets the name and protocol of each port, on which clients rely. The name may be empty. */
  static ObjectNode endpointSlice(ObjectNode slice) {
    for (var port : slice.path("ports")) {
      if (port instanceof ObjectNode one) {
        fill(one, "name", "");
        fill(one, "protocol", "TCP");
      }
    }
    return slice;
  }
}
