package dev.activator.embedded.api.http;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** What stands in the cells that take more than a look at one field. */
final class Cells {
  private static final int ADDRESSES_SHOWN = 3;

  private Cells() {}

  static String endpoints(JsonNode endpoints) {
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
    return first(all);
  }

  static String sliceAddresses(JsonNode slice) {
    return first(slice.path("endpoints").valueStream()
        .flatMap(endpoint -> endpoint.path("addresses").valueStream())
        .map(address -> address.asString("")).toList());
  }

  static String slicePorts(JsonNode slice) {
    return first(slice.path("ports").valueStream().map(port -> port.path("port").asString(""))
        .toList());
  }

  /** As many as fit a line, and how many more there are. */
  private static String first(List<String> all) {
    if (all.isEmpty()) {
      return "<none>";
    }
    int more = all.size() - ADDRESSES_SHOWN;
    String shown = String.join(",", all.subList(0, Math.min(all.size(), ADDRESSES_SHOWN)));
    return more > 0 ? shown + " + " + more + " more..." : shown;
  }

  static String readyContainers(JsonNode pod) {
    var statuses = pod.at("/status/containerStatuses");
    long ready = statuses.valueStream().filter(s -> s.path("ready").asBoolean(false)).count();
    int all = Math.max(statuses.size(), pod.at("/spec/containers").size());
    return ready + "/" + all;
  }

  static String podStatus(JsonNode pod) {
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
    return reason.isEmpty() ? pod.at("/status/phase").asString("Pending") : reason;
  }

  static String restarts(JsonNode pod) {
    return Integer.toString(pod.at("/status/containerStatuses").valueStream()
        .mapToInt(status -> status.path("restartCount").asInt(0)).sum());
  }

  static String readyReplicas(JsonNode deployment) {
    return count(deployment, "readyReplicas") + "/" + deployment.at("/spec/replicas").asInt(0);
  }

  /** A number in the status; 0 if there is none. */
  static String count(JsonNode object, String field) {
    return Integer.toString(object.path("status").path(field).asInt(0));
  }

  /** One field of each container that a deployment's pods have. */
  static String containers(JsonNode deployment, String field) {
    return deployment.at("/spec/template/spec/containers").valueStream()
        .map(container -> container.path(field).asString("")).collect(Collectors.joining(","));
  }

  static String ports(JsonNode service) {
    return Column.orNone(service.at("/spec/ports").valueStream()
        .map(port -> port.path("port").asString("") + "/" + port.path("protocol").asString("TCP"))
        .collect(Collectors.joining(",")));
  }

  static String labels(JsonNode labels) {
    return Column.orNone(labels.properties().stream()
        .map(label -> label.getKey() + "=" + label.getValue().asString(""))
        .collect(Collectors.joining(",")));
  }

  static String data(JsonNode object) {
    return Integer.toString(object.path("data").size() + object.path("binaryData").size());
  }

  static String size(JsonNode list) {
    return Integer.toString(list.size());
  }

  static String involved(JsonNode event) {
    return event.at("/involvedObject/kind").asString("").toLowerCase(java.util.Locale.ROOT) + "/"
        + event.at("/involvedObject/name").asString("");
  }

  /** What the condition named Ready says. */
  static String ready(JsonNode object, String field) {
    return object.at("/status/conditions").valueStream()
        .filter(condition -> condition.path("type").asString("").equals("Ready")).findFirst()
        .map(condition -> condition.path(field).asString("")).orElse("");
  }
}
