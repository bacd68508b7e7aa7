package dev.activator.embedded.runtime;

import dev.activator.standalone.autoscaler.policy.ScalingAnnotations;
import dev.activator.embedded.api.store.StatusException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The admission of Knative Services. It sets defaults, and refuses a Service that cannot run as a
 * local process.
 */
final class KnativeServiceAdmission {
  private static final String SPEC = "spec.template.spec";
  private static final String CONTAINER = SPEC + ".containers[0]";
  private static final int DEFAULT_TIMEOUT_SECONDS = 300;
  private static final int MAX_CONCURRENCY = 1_000;

  private KnativeServiceAdmission() {}

  static ObjectNode admit(ObjectNode service) {
    if (!(service.at("/spec/template/spec") instanceof ObjectNode spec)) {
      throw StatusException.invalid(SPEC, "a Service needs a template with containers");
    }
    if (service.at("/spec/template/metadata").has("name")) {
      throw StatusException.invalid("spec.template.metadata.name",
          "revisions are numbered here; leave the name out");
    }
    fill(spec, "containerConcurrency", 0);
    fill(spec, "timeoutSeconds", DEFAULT_TIMEOUT_SECONDS);
    number(spec, "containerConcurrency", 0, MAX_CONCURRENCY);
    number(spec, "timeoutSeconds", 0, Integer.MAX_VALUE);
    if (spec.path("timeoutSeconds").intValue() == 0) {
      // As Knative's defaults do.
      spec.put("timeoutSeconds", DEFAULT_TIMEOUT_SECONDS);
    }
    container(spec);
    annotations(service.at("/spec/template/metadata"));
    traffic((ObjectNode) service.path("spec"));
    return service;
  }

  private static void annotations(JsonNode metadata) {
    for (var problem : ScalingAnnotations.problems(EmbeddedScaleClient.annotations(metadata))) {
      throw StatusException.invalid("spec.template.metadata.annotations." + problem.key(),
          problem.message());
    }
  }

  private static void traffic(ObjectNode spec) {
    ServiceTraffic.setDefaults(spec);
    var problems = ServiceTraffic.problems(spec);
    if (!problems.isEmpty()) {
      throw StatusException.invalid(problems);
    }
  }

  private static void fill(ObjectNode spec, String field, int value) {
    if (spec.path(field).isMissingNode() || spec.path(field).isNull()) {
      spec.put(field, value);
    }
  }

  private static void number(ObjectNode spec, String field, int least, int most) {
    var value = spec.path(field);
    if (!value.isInt() || value.intValue() < least || value.intValue() > most) {
      throw StatusException.invalid(SPEC + "." + field,
          "expected a number from " + least + " to " + most + ", not " + value);
    }
  }

  private static void container(ObjectNode spec) {
    var containers = spec.path("containers");
    if (containers.size() != 1) {
      throw StatusException.invalid(SPEC + ".containers",
          "embedded mode runs exactly one container, not " + containers.size());
    }
    var container = containers.get(0);
    if (container.path("command").isEmpty()
        && !container.path("image").asString("").equals(ServingController.SAMPLE_IMAGE)) {
      throw StatusException.invalid(CONTAINER + ".command", "embedded mode runs local processes, "
          + "not images: give the command of one that listens on $PORT");
    }
  }
}
