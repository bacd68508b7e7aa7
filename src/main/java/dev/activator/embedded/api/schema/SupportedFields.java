package dev.activator.embedded.api.schema;

import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * The table of fields that have an effect in embedded mode, with the reasons why others have none.
 * {@code docs/embedded-mode.md} has the same table, and a test compares them.
 */
final class SupportedFields {
  /** The kinds that run programs: Knative's Services, and Deployments. */
  static final List<Kind> PROGRAMS = List.of(BuiltInKinds.KNATIVE_SERVICE, BuiltInKinds.DEPLOYMENT);
  /** The reason for fields without a row. */
  private static final String OTHERS = "it has no effect on processes of this machine";
  private static final String ONE_MACHINE = "all processes run on this machine";
  private static final String NOT_ISOLATED = "processes are not isolated from this machine";
  private static final String NOTHING_ACTS = "nothing here acts on this kind; apply a Service of"
      + " serving.knative.dev/v1";
  private static final String POD = "spec.template.spec.";
  private static final String CONTAINER = POD + "containers[].";

  /**
   * Fields that have an effect, and fields that have none, with the reason in the words of a
   * warning.
   */
  private static final List<Row> PROGRAM_ROWS = List.of(works("metadata"),
      works("spec.replicas"), works("spec.selector"), works("spec.paused"),
      works("spec.revisionHistoryLimit"), works("spec.progressDeadlineSeconds"),
      works("spec.template.metadata"),
      works(POD + "containerConcurrency"), works(POD + "timeoutSeconds"),
      works(POD + "responseStartTimeoutSeconds"), works(POD + "idleTimeoutSeconds"),
      works(POD + "terminationGracePeriodSeconds"), works(CONTAINER + "name"),
      works(CONTAINER + "command"), works(CONTAINER + "args"), works(CONTAINER + "env"),
      works(CONTAINER + "envFrom"), works(CONTAINER + "workingDir"), works(CONTAINER + "ports"),
      works(CONTAINER + "readinessProbe"), works(CONTAINER + "livenessProbe"),
      works(CONTAINER + "startupProbe"), works("spec.traffic"),
      ignored(POD + "volumes", "processes see the files of this machine"),
      ignored(POD + "initContainers", "only the one container runs"),
      ignored(POD + "securityContext", NOT_ISOLATED),
      ignored(POD + "affinity", ONE_MACHINE), ignored(POD + "nodeSelector", ONE_MACHINE),
      ignored(POD + "tolerations", ONE_MACHINE),
      ignored(POD + "topologySpreadConstraints", ONE_MACHINE),
      ignored(POD + "serviceAccountName", "the API has no users"),
      ignored(POD + "imagePullSecrets", "no images are pulled"),
      ignored(CONTAINER + "image", "no image runs here; the command runs on this machine"),
      ignored(CONTAINER + "imagePullPolicy", "no images are pulled"),
      ignored(CONTAINER + "resources", "processes share the CPU and memory of this machine"),
      ignored(CONTAINER + "volumeMounts", "processes see the files of this machine"),
      ignored(CONTAINER + "securityContext", NOT_ISOLATED),
      ignored(CONTAINER + "lifecycle", "processes have no hooks; a stopped one gets SIGTERM"));

  private static final Map<Kind, List<Row>> BY_KIND = byKind();

  /** Values that describe the behaviour of embedded mode, so that they need no warning. */
  private static final Map<String, JsonNode> AS_HERE = Map.of("spec.type", text("ClusterIP"),
      "spec.clusterIP", text("None"), "spec.sessionAffinity", text("None"), CONTAINER + "image",
      text("activator.dev/hello"), POD + "restartPolicy", text("Always"), POD + "dnsPolicy",
      text("ClusterFirst"), POD + "schedulerName", text("default-scheduler"));

  /**
   * A row of the table. It applies to its path, and to all fields below that have no other row.
   *
   * @param reason why the field has no effect; empty if it has
   */
  record Row(String path, String reason) {
    boolean works() {
      return reason.isEmpty();
    }
  }

  private SupportedFields() {}

  /**
   * The rows by kind. Kinds without rows have an effect, or are stored for clients that read them.
   */
  static Map<Kind, List<Row>> rows() {
    return BY_KIND;
  }

  static boolean isListed(Kind kind) {
    return BY_KIND.containsKey(kind);
  }

  static Optional<Row> row(Kind kind, String path) {
    return BY_KIND.getOrDefault(kind, List.of()).stream().filter(row -> row.path().equals(path))
        .findFirst();
  }

  /** Whether a field below the path has a row. */
  static boolean leadsToRow(Kind kind, String path) {
    return BY_KIND.getOrDefault(kind, List.of()).stream()
        .anyMatch(row -> row.path().startsWith(path + ".") || row.path().startsWith(path + "[]"));
  }

  /** The row of the path, or of the nearest field that contains it. */
  static Row nearest(Kind kind, String path) {
    for (String above = path; !above.isEmpty(); above = parent(above)) {
      var row = row(kind, above);
      if (row.isPresent()) {
        return row.get();
      }
    }
    return path.equals("status") ? works(path) : ignored(path, OTHERS);
  }

  private static String parent(String path) {
    return path.substring(0, Math.max(0, path.lastIndexOf('.')));
  }

  /** Whether a field is unset, or describes the behaviour of embedded mode. */
  static boolean isAsHere(String path, JsonNode value) {
    return value.isNull() || value.isContainer() && value.isEmpty()
        || value.equals(AS_HERE.get(path));
  }

  private static Map<Kind, List<Row>> byKind() {
    var rows = new LinkedHashMap<Kind, List<Row>>();
    PROGRAMS.forEach(kind -> rows.put(kind, PROGRAM_ROWS));
    rows.put(BuiltInKinds.REPLICA_SET, PROGRAM_ROWS);
    rows.put(BuiltInKinds.POD, List.of(works("metadata"), works("status"),
        ignored("spec", "nothing runs a Pod that is created by hand; apply a Deployment, or a"
            + " Service of serving.knative.dev/v1")));
    rows.put(BuiltInKinds.SERVICE,
        List.of(works("metadata"), works("status"), works("spec.selector"),
            works("spec.ports"), ignored("spec.type", "a Service of v1 has no ClusterIP")));
    for (var kind : List.of(BuiltInKinds.CONFIGURATION, BuiltInKinds.ROUTE)) {
      rows.put(kind, List.of(works("metadata"), works("status"), ignored("spec", NOTHING_ACTS)));
    }
    rows.put(BuiltInKinds.HORIZONTAL_POD_AUTOSCALER, List.of(works("metadata"), works("status"),
        works("spec.scaleTargetRef"), works("spec.minReplicas"), ignored("spec",
            "nothing here scales by it; a ScaledService of the same workload sees that it is there")));
    for (var kind : List.of(BuiltInKinds.CONFIG_MAP, BuiltInKinds.SECRET)) {
      var all = new ArrayList<>(List.of("metadata", "data", "binaryData", "stringData", "type")
          .stream().map(SupportedFields::works).toList());
      all.add(ignored("immutable", "later changes are accepted"));
      rows.put(kind, List.copyOf(all));
    }
    return rows;
  }

  private static Row works(String path) {
    return new Row(path, "");
  }

  private static Row ignored(String path, String reason) {
    return new Row(path, reason);
  }

  private static JsonNode text(String value) {
    return Json.MAPPER.getNodeFactory().stringNode(value);
  }
}
