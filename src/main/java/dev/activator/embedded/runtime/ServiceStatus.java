package dev.activator.embedded.runtime;

import dev.activator.embedded.api.Meta;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** What a Service's status says of its revisions. */
final class ServiceStatus {
  private static final List<String> CONDITIONS = List.of("ConfigurationsReady", "Ready",
      "RoutesReady");

  private final RuntimeSettings settings;

  ServiceStatus(RuntimeSettings settings) {
    this.settings = settings;
  }

  /**
   * The Service with its status.
   *
   * @param problem why its template cannot become a revision; empty when it did
   */
  ObjectNode of(ObjectNode service, List<ObjectNode> revisions, String problem) {
    var newestFirst = revisions.stream()
        .sorted(Comparator.comparing(RevisionDirectory::number).reversed()).toList();
    if (newestFirst.isEmpty()) {
      return service;
    }
    var latest = newestFirst.getFirst();
    var ready = newestFirst.stream().filter(one -> Conditions.isTrue(one, "Ready")).findFirst();
    addConditions(service, latest, problem);
    var status = (ObjectNode) service.path("status");
    status.put("observedGeneration", service.path("metadata").path("generation").longValue(1));
    status.put("latestCreatedRevisionName", Meta.name(latest));
    ready.ifPresent(one -> status.put("latestReadyRevisionName", Meta.name(one)));
    status.put("url", url(service));
    status.putObject("address").put("url", url(service));
    status.putArray("traffic").addObject().put("latestRevision", true).put("percent", 100)
        .put("revisionName", Meta.name(latest));
    return service;
  }

  private String url(ObjectNode service) {
    return "http://" + Meta.name(service) + "." + Meta.namespace(service) + ".localhost:"
        + settings.activator().getPort();
  }

  private void addConditions(ObjectNode service, ObjectNode latest, String problem) {
    var conditions = Conditions.of(service, Timestamps.now(settings.clock()));
    var failure = failure(latest, problem);
    for (String type : CONDITIONS) {
      if (failure == null || type.equals("RoutesReady")) {
        conditions.hold(type);
      } else {
        conditions.keepFailing(type, failure.reason(), failure.message());
      }
    }
  }

  private record Failure(String reason, String message) {}

  private static @Nullable Failure failure(ObjectNode latest, String problem) {
    if (!problem.isEmpty()) {
      return new Failure("RevisionFailed", problem);
    }
    var ready = Conditions.find(latest, "Ready");
    return ready.path("status").stringValue("").equals("False")
        ? new Failure("RevisionFailed", ready.path("message").stringValue(""))
        : null;
  }
}
