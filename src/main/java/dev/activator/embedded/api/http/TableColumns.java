package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.http.TableColumn.AGE;
import static dev.activator.embedded.api.http.TableColumn.NAME;
import static dev.activator.embedded.api.http.TableColumn.at;
import static dev.activator.embedded.api.http.TableColumn.computed;
import static dev.activator.embedded.api.http.TableColumn.shown;
import static dev.activator.embedded.api.http.TableColumn.since;

import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * The table columns of each kind.
 *
 * <p><b>Source.</b> {@code printers/internalversion/printers.go} in Kubernetes, and the printer
 * columns of Knative's custom resources.
 */
final class TableColumns {
  private static final int ADDRESSES_SHOWN = 3;
  private static final TableColumn READY = computed("Ready", object -> ready(object, "status"));
  private static final TableColumn REASON = computed("Reason", object -> ready(object, "reason"));
  private static final TableColumn CREATED = at("LatestCreated",
      "/status/latestCreatedRevisionName");
  private static final TableColumn LATEST_READY = at("LatestReady",
      "/status/latestReadyRevisionName");
  private static final TableColumn URL = at("URL", "/status/url");
  private static final String KNATIVE = "/metadata/labels/serving.knative.dev~1";

  private static final List<TableColumn> DEFAULT = List.of(NAME, AGE);
  private static final Map<Kind, List<TableColumn>> BY_KIND = Map.ofEntries(
      Map.entry(BuiltInKinds.NAMESPACE, List.of(NAME, at("Status", "/status/phase"), AGE)),
      Map.entry(BuiltInKinds.CONFIG_MAP,
          List.of(NAME, computed("Data", TableColumns::data).number(), AGE)),
      Map.entry(BuiltInKinds.SECRET,
          List.of(NAME, computed("Type", secret -> secret.path("type").asString("Opaque")),
              computed("Data", TableColumns::data).number(), AGE)),
      Map.entry(BuiltInKinds.SERVICE_ACCOUNT,
          List.of(NAME, computed("Secrets", a -> size(a.path("secrets"))).number(), AGE)),
      Map.entry(BuiltInKinds.SERVICE,
          List.of(NAME, computed("Type", s -> s.at("/spec/type").asString("ClusterIP")),
              shown("Cluster-IP", "/spec/clusterIP"), shown("External-IP", "/spec/externalName"),
              computed("Port(s)", TableColumns::ports), AGE,
              computed("Selector", s -> labels(s.at("/spec/selector"))).wide())),
      Map.entry(BuiltInKinds.ENDPOINTS,
          List.of(NAME, computed("Endpoints", TableColumns::endpoints), AGE)),
      Map.entry(BuiltInKinds.ENDPOINT_SLICE,
          List.of(NAME, at("AddressType", "/addressType"),
              computed("Ports", TableColumns::slicePorts),
              computed("Endpoints", TableColumns::sliceAddresses), AGE)),
      Map.entry(BuiltInKinds.POD,
          List.of(NAME, computed("Ready", TableColumns::readyContainers),
              computed("Status", TableColumns::podStatus),
              computed("Restarts", TableColumns::restarts), AGE,
              shown("IP", "/status/podIP").wide(), shown("Node", "/spec/nodeName").wide())),
      Map.entry(BuiltInKinds.EVENT,
          List.of(since("Last Seen", "/lastTimestamp"), at("Type", "/type"),
              at("Reason", "/reason"), computed("Object", TableColumns::involved),
              at("Source", "/source/component").wide(), at("Message", "/message"),
              since("First Seen", "/firstTimestamp").wide(),
              computed("Count", e -> e.path("count").asString("1")).number().wide(),
              new TableColumn("Name", "string", "name", 1, NAME.value()))),
      Map.entry(BuiltInKinds.LEASE, List.of(NAME, at("Holder", "/spec/holderIdentity"), AGE)),
      Map.entry(BuiltInKinds.DEPLOYMENT,
          List.of(NAME, computed("Ready", TableColumns::readyReplicas),
              computed("Up-to-date", d -> count(d, "updatedReplicas")).number(),
              computed("Available", d -> count(d, "availableReplicas")).number(), AGE,
              computed("Containers", d -> containers(d, "name")).wide(),
              computed("Images", d -> containers(d, "image")).wide(),
              computed("Selector", d -> labels(d.at("/spec/selector/matchLabels")))
                  .wide())),
      Map.entry(BuiltInKinds.REPLICA_SET,
          List.of(NAME, computed("Desired", s -> s.at("/spec/replicas").asString("0")).number(),
              computed("Current", s -> count(s, "replicas")).number(),
              computed("Ready", s -> count(s, "readyReplicas")).number(), AGE,
              computed("Containers", s -> containers(s, "name")).wide(),
              computed("Images", s -> containers(s, "image")).wide(),
              computed("Selector", s -> labels(s.at("/spec/selector/matchLabels"))).wide())),
      Map.entry(BuiltInKinds.HORIZONTAL_POD_AUTOSCALER,
          List.of(NAME, at("Reference", "/spec/scaleTargetRef/name"),
              at("MinPods", "/spec/minReplicas"), at("MaxPods", "/spec/maxReplicas"), AGE)),
      Map.entry(BuiltInKinds.CUSTOM_RESOURCE_DEFINITION,
          List.of(NAME, at("Created At", "/metadata/creationTimestamp"))),
      Map.entry(BuiltInKinds.KNATIVE_SERVICE,
          List.of(NAME, URL, CREATED, LATEST_READY, READY, REASON)),
      Map.entry(BuiltInKinds.CONFIGURATION, List.of(NAME, CREATED, LATEST_READY, READY, REASON)),
      Map.entry(BuiltInKinds.ROUTE, List.of(NAME, URL, READY, REASON)),
      Map.entry(BuiltInKinds.REVISION,
          List.of(NAME, at("Config Name", KNATIVE + "configuration"),
              at("Generation", KNATIVE + "configurationGeneration"), READY, REASON,
              at("Actual Replicas", "/status/actualReplicas").number(),
              at("Desired Replicas", "/status/desiredReplicas").number())),
      Map.entry(BuiltInKinds.POD_AUTOSCALER,
          List.of(NAME, at("DesiredScale", "/status/desiredScale").number(),
              at("ActualScale", "/status/actualScale").number(), READY, REASON)),
      Map.entry(BuiltInKinds.SERVERLESS_SERVICE,
          List.of(NAME, at("Mode", "/spec/mode"), at("Activators", "/spec/numActivators").number(),
              at("ServiceName", "/status/serviceName"),
              at("PrivateServiceName", "/status/privateServiceName"), READY, REASON)),
      Map.entry(BuiltInKinds.METRIC, List.of(NAME, READY, REASON)));

  private TableColumns() {}

  static List<TableColumn> of(Kind kind) {
    return kind.columns().isEmpty()
        ? BY_KIND.getOrDefault(kind, DEFAULT)
        : Stream.concat(Stream.of(NAME), kind.columns().stream().map(TableColumn::of)).toList();
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
    return first(all);
  }

  private static String sliceAddresses(JsonNode slice) {
    return first(slice.path("endpoints").valueStream()
        .flatMap(endpoint -> endpoint.path("addresses").valueStream())
        .map(address -> address.asString("")).toList());
  }

  private static String slicePorts(JsonNode slice) {
    return first(slice.path("ports").valueStream().map(port -> port.path("port").asString(""))
        .toList());
  }

  private static String first(List<String> all) {
    if (all.isEmpty()) {
      return "<none>";
    }
    int more = all.size() - ADDRESSES_SHOWN;
    String shown = String.join(",", all.subList(0, Math.min(all.size(), ADDRESSES_SHOWN)));
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
    return reason.isEmpty() ? pod.at("/status/phase").asString("Pending") : reason;
  }

  private static String restarts(JsonNode pod) {
    return Integer.toString(pod.at("/status/containerStatuses").valueStream()
        .mapToInt(status -> status.path("restartCount").asInt(0)).sum());
  }

  private static String readyReplicas(JsonNode deployment) {
    return count(deployment, "readyReplicas") + "/" + deployment.at("/spec/replicas").asInt(0);
  }

  private static String count(JsonNode object, String field) {
    return Integer.toString(object.path("status").path(field).asInt(0));
  }

  private static String containers(JsonNode deployment, String field) {
    return deployment.at("/spec/template/spec/containers").valueStream()
        .map(container -> container.path(field).asString("")).collect(Collectors.joining(","));
  }

  private static String ports(JsonNode service) {
    return TableColumn.orNone(service.at("/spec/ports").valueStream()
        .map(port -> port.path("port").asString("") + "/" + port.path("protocol").asString("TCP"))
        .collect(Collectors.joining(",")));
  }

  private static String labels(JsonNode labels) {
    return TableColumn.orNone(labels.properties().stream()
        .map(label -> label.getKey() + "=" + label.getValue().asString(""))
        .collect(Collectors.joining(",")));
  }

  private static String data(JsonNode object) {
    return Integer.toString(object.path("data").size() + object.path("binaryData").size());
  }

  private static String size(JsonNode list) {
    return Integer.toString(list.size());
  }

  private static String involved(JsonNode event) {
    return event.at("/involvedObject/kind").asString("").toLowerCase(java.util.Locale.ROOT) + "/"
        + event.at("/involvedObject/name").asString("");
  }

  private static String ready(JsonNode object, String field) {
    return object.at("/status/conditions").valueStream()
        .filter(condition -> condition.path("type").asString("").equals("Ready")).findFirst()
        .map(condition -> condition.path(field).asString("")).orElse("");
  }
}
