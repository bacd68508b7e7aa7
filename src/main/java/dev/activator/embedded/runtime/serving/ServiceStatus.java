package dev.activator.embedded.runtime.serving;

import dev.activator.embedded.api.store.Meta;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What the status of a Service and of a Revision says. A revision at zero is ready: it starts when
 * it is asked for.
 */
final class ServiceStatus {
  private ServiceStatus() {}

  /** The Service's, which means this revision and is as ready as that. */
  static ObjectNode ofService(ObjectNode service, ObjectNode revision, int requestPort) {
    var status = service.withObjectProperty("status");
    status.put("observedGeneration", Meta.of(service).path("generation").asInt(0));
    status.put("latestCreatedRevisionName", Meta.name(revision));
    status.put("url", "http://" + Meta.name(service) + "." + Meta.namespace(service)
        + ".localhost:" + requestPort);
    for (JsonNode condition : revision.path("status").path("conditions")) {
      if (condition.path("type").asString("").equals("Ready")) {
        status.putArray("conditions").add(condition.deepCopy());
        if (condition.path("status").asString("").equals("True")) {
          status.put("latestReadyRevisionName", Meta.name(revision));
        }
      }
    }
    return service;
  }

  static ObjectNode ofRevision(ObjectNode revision, Instant now) {
    ready(revision.withObjectProperty("status"), now);
    return revision;
  }

  /** The time of a condition is that of its last change, so nothing changes if it was true. */
  private static void ready(ObjectNode status, Instant now) {
    var conditions = status.withArrayProperty("conditions");
    for (JsonNode condition : conditions) {
      if (condition.path("type").asString("").equals("Ready")) {
        return;
      }
    }
    conditions.addObject().put("type", "Ready").put("status", "True").put("lastTransitionTime",
        now.truncatedTo(ChronoUnit.SECONDS).toString());
  }
}
