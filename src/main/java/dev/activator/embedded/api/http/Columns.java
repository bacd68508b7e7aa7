package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.http.Column.AGE;
import static dev.activator.embedded.api.http.Column.NAME;
import static dev.activator.embedded.api.http.Column.at;
import static dev.activator.embedded.api.http.Column.computed;

import dev.activator.embedded.api.Kind;
import dev.activator.embedded.api.Kinds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * Which columns the tables of each kind have.
 *
 * <p>
 * <b>Source.</b> {@code printers/internalversion/printers.go} in Kubernetes, and the printer
 * columns of Knative's custom resources.
 */
final class Columns {
  private static final int ENDPOINTS_SHOWN = 3;

  private static final List<Column> DEFAULT = List.of(NAME, AGE);
  private static final Map<Kind, List<Column>> BY_KIND = Map.of(Kinds.ENDPOINTS,
      List.of(NAME, computed("Endpoints", Columns::endpoints), AGE), //
      Kinds.POD,
      List.of(NAME, computed("Ready", Columns::readyContainers),
          computed("Status", Columns::podStatus), computed("Restarts", Columns::restarts), AGE),
      Kinds.DEPLOYMENT,
      List.of(NAME, computed("Ready", Columns::readyReplicas),
          computed("Up-to-date", d -> Integer.toString(d.at("/status/updatedReplicas").asInt(0))),
          computed("Available", d -> Integer.toString(d.at("/status/availableReplicas").asInt(0))),
          AGE),
      Kinds.SERVICE,
      List.of(NAME, computed("Type", s -> s.at("/spec/type").asString("ClusterIP")),
          computed("Cluster-IP", s -> s.at("/spec/clusterIP").asString("<none>")),
          computed("External-IP", s -> s.at("/spec/externalName").asString("<none>")),
          computed("Port(s)", Columns::ports), AGE),
      Kinds.NAMESPACE, List.of(NAME, at("Status", "/status/phase"), AGE), //
      Kinds.CONFIG_MAP,
      List.of(NAME, computed("Data", c -> Integer.toString(c.path("data").size())), AGE),
      Kinds.KNATIVE_SERVICE,
      List.of(NAME, at("URL", "/status/url"),
          at("LatestCreated", "/status/latestCreatedRevisionName"),
          at("LatestReady", "/status/latestReadyRevisionName"),
          computed("Ready", s -> condition(s, "status")),
          computed("Reason", s -> condition(s, "reason"))),
      Kinds.REVISION,
      List.of(NAME,
          computed("Config Name",
              r -> r.path("metadata").path("labels").path("serving.knative.dev/configuration")
                  .asString("")),
          computed("Generation",
              r -> r.path("metadata").path("labels")
                  .path("serving.knative.dev/configurationGeneration").asString("")),
          computed("Ready", r -> condition(r, "status")),
          computed("Reason", r -> condition(r, "reason")),
          at("Actual Replicas", "/status/actualReplicas"),
          at("Desired Replicas", "/status/desiredReplicas")),
      Kinds.EVENT,
      List.of(
          new Column("Last Seen", "",
              (e, now) -> Column.age(e.path("lastTimestamp").asString(""), now)),
          at("Type", "/type"), at("Reason", "/reason"),
          computed("Object", e -> e.at("/involvedObject/kind").asString("") + "/"
              + e.at("/involvedObject/name").asString("")),
          at("Message", "/message")));

  private Columns() {}

  static List<Column> of(Kind kind) {
    return BY_KIND.getOrDefault(kind, DEFAULT);
  }

  private static String endpoints(JsonNode endpoints) {
    var all = new ArrayList<String>();
    for (var subset : endpoints.path("subsets")) {
      for (var address : subset.path("addresses")) {
        String ip = address.path("ip").asString("");
        if (subset.path("ports").isEmpty()) {
          all.add(ip);
        }
        subset.path("ports").forEach(port -> all.add(ip + ":" + port.path("port").asString("")));
      }
    }
    if (all.isEmpty()) {
      return "<none>";
    }
    int more = all.size() - ENDPOINTS_SHOWN;
    String shown = String.join(",", all.subList(0, Math.min(all.size(), ENDPOINTS_SHOWN)));
    return more > 0 ? shown + " + " + more + " more..." : shown;
  }

  private static String readyContainers(JsonNode pod) {
    var statuses = pod.at("/status/containerStatuses");
    long ready = statuses.valueStream().filter(s -> s.path("ready").asBoolean(false)).count();
    int all = Math.max(statuses.size(), pod.at("/spec/containers").size());
    return ready + "/" + all;
  }

  private static String podStatus(JsonNode pod) {
    if (pod.path("metadata").has("deletionTimestamp")) {
      return "Terminating";
    }
    for (var status : pod.at("/status/containerStatuses")) {
      for (var state : List.of("waiting", "terminated")) {
        String reason = status.path("state").path(state).path("reason").asString("");
        if (!reason.isEmpty()) {
          return reason;
        }
      }
    }
    String reason = pod.at("/status/reason").asString("");
    return reason.isEmpty() ? pod.at("/status/phase").asString("Unknown") : reason;
  }

  private static String restarts(JsonNode pod) {
    return Integer.toString(pod.at("/status/containerStatuses").valueStream()
        .mapToInt(status -> status.path("restartCount").asInt(0)).sum());
  }

  private static String readyReplicas(JsonNode deployment) {
    return deployment.at("/status/readyReplicas").asInt(0) + "/"
        + deployment.at("/spec/replicas").asInt(0);
  }

  private static String ports(JsonNode service) {
    String ports = service.at("/spec/ports").valueStream()
        .map(port -> port.path("port").asString("") + "/" + port.path("protocol").asString("TCP"))
        .collect(Collectors.joining(","));
    return ports.isEmpty() ? "<none>" : ports;
  }

  /** What the condition named Ready says. */
  private static String condition(JsonNode object, String field) {
    return object.at("/status/conditions").valueStream()
        .filter(condition -> condition.path("type").asString("").equals("Ready")).findFirst()
        .map(condition -> condition.path(field).asString("")).orElse("");
  }
}
