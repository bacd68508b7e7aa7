package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.policy.TrafficAssignment;
import dev.activator.embedded.runtime.policy.TrafficAssignment.Assigned;
import dev.activator.embedded.runtime.policy.TrafficAssignment.Share;
import dev.activator.embedded.runtime.policy.TrafficAssignment.Unassigned;
import java.time.Instant;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Computes the status of a Knative Service from its newest revision, its latest ready revision and
 * its traffic.
 *
 * <p><b>Source.</b> {@code configuration_lifecycle.go}, {@code route_lifecycle.go} and
 * {@code service_lifecycle.go} in {@code knative.dev/serving/pkg/apis/serving/v1}.
 *
 * @param newest the newest revision
 * @param ready the name of the latest ready revision; empty until a revision has been ready
 * @param generation the generation of the Service whose revision is the newest
 */
record KnativeServiceStatus(ObjectNode newest, String ready, TrafficAssignment traffic,
    long generation, int requestPort) {
  private static final String READY = "Ready";
  private static final String CONFIGURATIONS = "ConfigurationsReady";
  private static final String ROUTES = "RoutesReady";

  void write(ObjectNode service, Instant now) {
    var status = service.withObjectProperty("status");
    String url = url(ObjectMeta.name(service), service);
    status.put("observedGeneration", generation)
        .put("latestCreatedRevisionName", ObjectMeta.name(newest)).put("url", url);
    status.putObject("address").put("url", url);
    if (!ready.isEmpty()) {
      status.put("latestReadyRevisionName", ready);
    }
    var conditions = ConditionManager.of(service, now);
    configurations(conditions, service);
    routes(conditions, service, status);
    ready(conditions, service);
  }

  private String url(String host, ObjectNode service) {
    return "http://" + host + "." + ObjectMeta.namespace(service) + ".localhost:" + requestPort;
  }

  private void routes(ConditionManager conditions, ObjectNode service, ObjectNode status) {
    switch (traffic) {
      case Unassigned(boolean failed, String reason, String message) -> {
        if (failed) {
          fail(conditions, service, ROUTES, reason, message);
        } else {
          conditions.unknown(ROUTES, reason, message);
        }
      }
      case Assigned assigned when ready.isEmpty()
          && assigned.shares().stream().anyMatch(Share::latest) ->
        conditions.unknown(ROUTES, "RevisionMissing", "Configuration \""
            + ObjectMeta.name(service) + "\" does not have any ready Revision.");
      case Assigned(var shares) -> {
        conditions.setTrue(ROUTES);
        var list = status.putArray("traffic");
        shares.forEach(share -> write(share, list.addObject(), service));
      }
    }
  }

  private void write(Share share, ObjectNode target, ObjectNode service) {
    target.put("latestRevision", share.latest()).put("percent", share.percent())
        .put("revisionName", share.revision());
    if (!share.tag().isEmpty()) {
      target.put("tag", share.tag()).put("url",
          url(TrafficAssignment.Target.host(share.tag(), ObjectMeta.name(service)), service));
    }
  }

  /** The status of a Service whose newest revision does not exist, because the API refused it. */
  static void writeRefused(ObjectNode service, String revision, Instant now) {
    service.withObjectProperty("status").put("observedGeneration",
        ObjectMeta.of(service).path("generation").asLong(0));
    var conditions = ConditionManager.of(service, now);
    fail(conditions, service, CONFIGURATIONS, "RevisionFailed",
        "Revision \"" + revision + "\" was refused by the API; the log has the reason.");
    ready(conditions, service);
  }

  private void configurations(ConditionManager conditions, ObjectNode service) {
    var revision = ConditionManager.find(newest, READY);
    String message = revision.path("message").asString("");
    switch (revision.path("status").asString("")) {
      case "True" -> {
        if (ObjectMeta.name(newest).equals(ready)) {
          conditions.setTrue(CONFIGURATIONS);
        } else {
          conditions.unknown(CONFIGURATIONS, "Deploying", "the activator does not know it yet");
        }
      }
      case "False" -> fail(conditions, service, CONFIGURATIONS, "RevisionFailed", "Revision \""
          + ObjectMeta.name(newest) + "\" failed with message: " + message + ".");
      default -> conditions.unknown(CONFIGURATIONS, revision.path("reason").asString("Deploying"),
          message);
    }
  }

  private static void ready(ConditionManager conditions, ObjectNode service) {
    for (var status : new String[]{"False", "Unknown"}) {
      for (var part : new String[]{CONFIGURATIONS, ROUTES}) {
        var condition = ConditionManager.find(service, part);
        if (condition.path("status").asString("").equals(status)) {
          String reason = condition.path("reason").asString("");
          String message = condition.path("message").asString("");
          if (status.equals("False")) {
            fail(conditions, service, READY, reason, message);
          } else {
            conditions.unknown(READY, reason, message);
          }
          return;
        }
      }
    }
    conditions.setTrue(READY);
  }

  /**
   * Sets a condition to false. Its time changes only with the message. Otherwise each write would
   * be an event.
   */
  private static void fail(ConditionManager conditions, JsonNode service, String type,
      String reason,
      String message) {
    var before = ConditionManager.find(service, type);
    if (!before.path("status").asString("").equals("False")
        || !before.path("message").asString("").equals(message)) {
      conditions.fail(type, reason, message);
    }
  }
}
