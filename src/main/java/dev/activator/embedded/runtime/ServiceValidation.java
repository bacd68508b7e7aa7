package dev.activator.embedded.runtime;

import dev.activator.embedded.api.ApiException;
import dev.activator.embedded.runtime.process.HelloProcess;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Refuses Services that cannot run as local processes, with the field that is wrong.
 *
 * <p>
 * <b>Errors.</b> Throws {@link ApiException}; the one who applied the Service reads its message.
 */
final class ServiceValidation {
  private static final String SPEC = "spec.template.spec";
  private static final String CONTAINER = SPEC + ".containers[0]";
  private static final int MAX_CONCURRENCY = 1000;

  private ServiceValidation() {}

  /** The Service, unchanged. */
  static ObjectNode check(ObjectNode service) {
    var spec = service.path("spec").path("template").path("spec");
    checkContainers(spec.path("containers"));
    checkNumber(spec, "containerConcurrency", 0, MAX_CONCURRENCY);
    checkNumber(spec, "timeoutSeconds", 1, Integer.MAX_VALUE);
    checkName(service);
    return service;
  }

  private static void checkContainers(JsonNode containers) {
    if (containers.isEmpty()) {
      throw ApiException.invalid(SPEC + ".containers", "a Service needs one container");
    }
    if (containers.size() > 1) {
      throw ApiException.invalid(SPEC + ".containers",
          "embedded mode runs one local process for each pod, not " + containers.size());
    }
    var container = containers.path(0);
    boolean sample = container.path("image").stringValue("").equals(HelloProcess.IMAGE);
    if (container.path("command").isEmpty() && !sample) {
      throw ApiException.invalid(CONTAINER + ".command",
          "embedded mode runs local processes, not images: name the program to run, which finds"
              + " its port in $PORT");
    }
    checkStrings(container, "command");
    checkStrings(container, "args");
  }

  private static void checkStrings(JsonNode container, String field) {
    for (var word : container.path(field)) {
      if (!word.isString()) {
        throw ApiException.invalid(CONTAINER + "." + field, "must be a list of strings");
      }
    }
  }

  private static void checkNumber(JsonNode spec, String field, int least, int most) {
    var value = spec.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return;
    }
    if (!value.isIntegralNumber() || value.longValue() < least || value.longValue() > most) {
      throw ApiException.invalid(SPEC + "." + field,
          "must be a whole number from " + least + " to " + most + ", not " + value);
    }
  }

  private static void checkName(ObjectNode service) {
    String owner = service.path("metadata").path("name").stringValue("");
    String name = service.path("spec").path("template").path("metadata").path("name")
        .stringValue("");
    if (!name.isEmpty() && !name.startsWith(owner + "-")) {
      throw ApiException.invalid("spec.template.metadata.name",
          "must begin with the Service's name: " + owner + "-");
    }
  }
}
