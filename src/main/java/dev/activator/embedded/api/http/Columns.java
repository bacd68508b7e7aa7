package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.http.Column.AGE;
import static dev.activator.embedded.api.http.Column.NAME;
import static dev.activator.embedded.api.http.Column.at;
import static dev.activator.embedded.api.http.Column.computed;
import static dev.activator.embedded.api.http.Column.shown;
import static dev.activator.embedded.api.http.Column.since;

import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Kinds;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Which columns the tables of each kind have.
 *
 * <p>
 * <b>Source.</b> {@code printers/internalversion/printers.go} in Kubernetes, and the printer
 * columns of Knative's custom resources.
 */
final class Columns {
  private static final Column READY = computed("Ready", object -> Cells.ready(object, "status"));
  private static final Column REASON = computed("Reason", object -> Cells.ready(object, "reason"));
  private static final Column CREATED = at("LatestCreated", "/status/latestCreatedRevisionName");
  private static final Column LATEST_READY = at("LatestReady", "/status/latestReadyRevisionName");
  private static final Column URL = at("URL", "/status/url");
  private static final String KNATIVE = "/metadata/labels/serving.knative.dev~1";

  private static final List<Column> DEFAULT = List.of(NAME, AGE);
  private static final Map<Kind, List<Column>> BY_KIND = Map.ofEntries(
      Map.entry(Kinds.NAMESPACE, List.of(NAME, at("Status", "/status/phase"), AGE)),
      Map.entry(Kinds.CONFIG_MAP,
          List.of(NAME, computed("Data", Cells::data).number(), AGE)),
      Map.entry(Kinds.SECRET,
          List.of(NAME, computed("Type", secret -> secret.path("type").asString("Opaque")),
              computed("Data", Cells::data).number(), AGE)),
      Map.entry(Kinds.SERVICE_ACCOUNT,
          List.of(NAME, computed("Secrets", a -> Cells.size(a.path("secrets"))).number(), AGE)),
      Map.entry(Kinds.SERVICE,
          List.of(NAME, computed("Type", s -> s.at("/spec/type").asString("ClusterIP")),
              shown("Cluster-IP", "/spec/clusterIP"), shown("External-IP", "/spec/externalName"),
              computed("Port(s)", Cells::ports), AGE,
              computed("Selector", s -> Cells.labels(s.at("/spec/selector"))).wide())),
      Map.entry(Kinds.ENDPOINTS, List.of(NAME, computed("Endpoints", Cells::endpoints), AGE)),
      Map.entry(Kinds.ENDPOINT_SLICE,
          List.of(NAME, at("AddressType", "/addressType"), computed("Ports", Cells::slicePorts),
              computed("Endpoints", Cells::sliceAddresses), AGE)),
      Map.entry(Kinds.POD,
          List.of(NAME, computed("Ready", Cells::readyContainers),
              computed("Status", Cells::podStatus), computed("Restarts", Cells::restarts), AGE,
              shown("IP", "/status/podIP").wide(), shown("Node", "/spec/nodeName").wide())),
      Map.entry(Kinds.EVENT,
          List.of(since("Last Seen", "/lastTimestamp"), at("Type", "/type"),
              at("Reason", "/reason"), computed("Object", Cells::involved),
              at("Source", "/source/component").wide(), at("Message", "/message"),
              since("First Seen", "/firstTimestamp").wide(),
              computed("Count", e -> e.path("count").asString("1")).number().wide(),
              new Column("Name", "string", "name", 1, NAME.value()))),
      Map.entry(Kinds.LEASE, List.of(NAME, at("Holder", "/spec/holderIdentity"), AGE)),
      Map.entry(Kinds.DEPLOYMENT,
          List.of(NAME, computed("Ready", Cells::readyReplicas),
              computed("Up-to-date", d -> Cells.count(d, "updatedReplicas")).number(),
              computed("Available", d -> Cells.count(d, "availableReplicas")).number(), AGE,
              computed("Containers", d -> Cells.containers(d, "name")).wide(),
              computed("Images", d -> Cells.containers(d, "image")).wide(),
              computed("Selector", d -> Cells.labels(d.at("/spec/selector/matchLabels")))
                  .wide())),
      Map.entry(Kinds.CUSTOM_RESOURCE_DEFINITION,
          List.of(NAME, at("Created At", "/metadata/creationTimestamp"))),
      Map.entry(Kinds.KNATIVE_SERVICE, List.of(NAME, URL, CREATED, LATEST_READY, READY, REASON)),
      Map.entry(Kinds.CONFIGURATION, List.of(NAME, CREATED, LATEST_READY, READY, REASON)),
      Map.entry(Kinds.ROUTE, List.of(NAME, URL, READY, REASON)),
      Map.entry(Kinds.REVISION,
          List.of(NAME, at("Config Name", KNATIVE + "configuration"),
              at("Generation", KNATIVE + "configurationGeneration"), READY, REASON,
              at("Actual Replicas", "/status/actualReplicas").number(),
              at("Desired Replicas", "/status/desiredReplicas").number())),
      Map.entry(Kinds.POD_AUTOSCALER,
          List.of(NAME, at("DesiredScale", "/status/desiredScale").number(),
              at("ActualScale", "/status/actualScale").number(), READY, REASON)),
      Map.entry(Kinds.SERVERLESS_SERVICE,
          List.of(NAME, at("Mode", "/spec/mode"), at("Activators", "/spec/numActivators").number(),
              at("ServiceName", "/status/serviceName"),
              at("PrivateServiceName", "/status/privateServiceName"), READY, REASON)),
      Map.entry(Kinds.METRIC, List.of(NAME, READY, REASON)));

  private Columns() {}

  static List<Column> of(Kind kind) {
    return kind.columns().isEmpty()
        ? BY_KIND.getOrDefault(kind, DEFAULT)
        : Stream.concat(Stream.of(NAME), kind.columns().stream().map(Column::of)).toList();
  }
}
