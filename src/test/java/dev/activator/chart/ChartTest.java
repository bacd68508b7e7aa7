package dev.activator.chart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.time.Clock;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

class ChartTest {
  private static final String[] EVERYTHING = {"serviceMonitor: {enabled: true}",
      "prometheusRule: {enabled: true}", "dashboard: {enabled: true}",
      "networkPolicy: {enabled: true}", "rbac: {pods: true}"};

  @Test
  void passesHelmsOwnCheck() {
    var result = new Helm(Chart.SOURCE).lint().strict().call();

    assertThat(result.isFailed()).as(String.join("\n", result.getMessages())).isFalse();
  }

  @Test
  void takesTheNamesOfKnativesActivator() {
    assertThat(Chart.replacing().names()).containsExactlyInAnyOrder(
        "Deployment knative-serving/activator", "Service knative-serving/activator-service",
        "HorizontalPodAutoscaler knative-serving/activator",
        "PodDisruptionBudget knative-serving/activator-pdb",
        "ServiceAccount knative-serving/activator", "NetworkPolicy knative-serving/activator",
        "Secret knative-serving/activator-peers",
        "Role knative-serving/knative-serving-activator",
        "RoleBinding knative-serving/knative-serving-activator",
        "ClusterRole knative-serving-activator-cluster",
        "ClusterRoleBinding knative-serving-activator-cluster");
  }

  @Test
  void sharesNoNameWithKnativeBesideIt() {
    var theirs = Chart.replacing(EVERYTHING).names();

    var ours = Chart.beside(EVERYTHING).names();

    assertThat(ours).contains("Deployment trials/trial", "Service trials/trial-service",
        "ConfigMap knative-serving/trial-logging",
        "ConfigMap knative-serving/trial-observability");
    assertThat(ours).doesNotContainAnyElementsOf(theirs);
  }

  @Test
  void keepsTheSelectorThatCannotBeChanged() {
    var chart = Chart.replacing();

    assertThat(texts(chart.only("Deployment").at("/spec/selector/matchLabels")))
        .isEqualTo(Map.of("app", "activator", "role", "activator"));
    assertThat(texts(chart.only("Service").at("/spec/selector")))
        .isEqualTo(Map.of("app", "activator"));
  }

  @Test
  void isInNoServiceOfKnativesBesideIt() {
    var chart = Chart.installed("trial", "knative-serving", "mode: beside");

    var labels = texts(chart.only("Deployment").at("/spec/template/metadata/labels"));

    assertThat(labels).containsEntry("app", "trial").doesNotContainEntry("role", "activator");
    assertThat(labels).containsAllEntriesOf(texts(chart.only("Service").at("/spec/selector")));
  }

  @Test
  void servesThePortsOfKnativesService() {
    var ports = new ArrayList<String>();
    Chart.replacing().only("Service").at("/spec/ports").forEach(port -> ports.add(
        port.path("name").asString() + " " + port.path("port") + " " + port.path("targetPort")));

    assertThat(ports).containsExactly("http-metrics 9090 9090", "http-profiling 8008 8008",
        "http 80 8012", "http2 81 8013", "https 443 8112");
  }

  @Test
  void namesThePortsOfTheContainer() {
    var ports = new ArrayList<String>();
    Chart.replacing().container().path("ports")
        .forEach(
            port -> ports.add(port.path("name").asString() + " " + port.path("containerPort")));

    assertThat(ports).containsExactly("metrics 9090", "profiling 8008", "http1 8012", "h2c 8013");
  }

  @Test
  void hasTheReadinessProbeOfKnatives() {
    var asked = Chart.replacing().container().path("readinessProbe");

    assertThat(asked.at("/httpGet/port").asInt()).isEqualTo(8012);
    assertThat(asked.at("/httpGet/httpHeaders/0/name").asString()).isEqualTo("k-kubelet-probe");
    assertThat(asked.path("periodSeconds").asInt()).isEqualTo(5);
    assertThat(asked.path("failureThreshold").asInt()).isEqualTo(5);
  }

  @Test
  void probesTheManagementPortForLiveness() {
    for (var chart : List.of(Chart.replacing(), Chart.beside())) {
      var asked = chart.container().path("livenessProbe");

      assertThat(asked.path("httpGet").toString())
          .isEqualTo("{\"port\":9090,\"path\":\"/actuator/health/liveness\"}");
      assertThat(asked.path("periodSeconds").asInt()).isEqualTo(10);
      assertThat(asked.path("failureThreshold").asInt()).isEqualTo(12);
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {
      "env: [{name: METRICS_PROMETHEUS_TLS_CERT, value: /c}]                   | HTTPS | 0",
      "properties: {activator.metrics-server.tls-cert: /c}      | HTTPS | 0",
      "env: [{name: METRICS_PROMETHEUS_HOST, value: 0.0.0.0}]                  | ''    | 0",
      "env: [{name: METRICS_PROMETHEUS_HOST, value: 127.0.0.1}]                | ''    | 8012",
      "properties: {server.address: 127.0.0.1}                  | ''    | 8012",
      "env: [{name: METRICS_PROMETHEUS_TLS_CLIENT_AUTH, value: require}]       | ''    | 8012"})
  void hasALivenessProbeThatTheManagementPortCanAnswer(String values, String scheme, int connects) {
    var asked = Chart.beside(values).container().path("livenessProbe");

    assertThat(asked.at("/httpGet/scheme").asString()).isEqualTo(scheme);
    assertThat(asked.at("/tcpSocket/port").asInt()).isEqualTo(connects);
  }

  @Test
  void hasTheEnvironmentOfKnatives() {
    assertThat(variables(Chart.replacing())).containsExactly("GOGC", "POD_NAME", "POD_IP",
        "SYSTEM_NAMESPACE", "CONFIG_LOGGING_NAME", "CONFIG_OBSERVABILITY_NAME");
  }

  @Test
  void readsItsOwnConfigMapsBesideKnative() {
    var chart = Chart.beside("config: {logging: {loglevel.activator: debug}}");

    assertThat(variable(chart, "SYSTEM_NAMESPACE")).isEqualTo("knative-serving");
    assertThat(variable(chart, "CONFIG_LOGGING_NAME")).isEqualTo("trial-logging");
    assertThat(variable(chart, "CONFIG_OBSERVABILITY_NAME")).isEqualTo("trial-observability");
    assertThat(chart.all("ConfigMap").getFirst().at("/data/loglevel.activator").asString())
        .isEqualTo("debug");
  }

  @Test
  void bringsNoNetworkConfigMap_unlessRequested() {
    assertThat(Chart.beside().names()).doesNotContain("ConfigMap knative-serving/config-network");
    assertThat(Chart.beside("config: {createNetwork: true}").names())
        .contains("ConfigMap knative-serving/config-network");
  }

  @Test
  void runsWithoutPrivilegesOrWritableFiles() {
    for (var chart : List.of(Chart.replacing(), Chart.beside())) {
      var context = chart.container().path("securityContext");

      assertThat(context.path("allowPrivilegeEscalation").asBoolean(true)).isFalse();
      assertThat(context.path("readOnlyRootFilesystem").asBoolean()).isTrue();
      assertThat(context.path("runAsNonRoot").asBoolean()).isTrue();
      assertThat(context.at("/capabilities/drop/0").asString()).isEqualTo("ALL");
      assertThat(context.at("/seccompProfile/type").asString()).isEqualTo("RuntimeDefault");
    }
  }

  @Test
  void keepsKnativesLimitsAndGracePeriod() {
    var chart = Chart.replacing();
    var resources = chart.container().path("resources");

    assertThat(resources.at("/limits/cpu").asString()).isEqualTo("1000m");
    assertThat(resources.at("/limits/memory").asString()).isEqualTo("600Mi");
    assertThat(resources.at("/requests/cpu").asString()).isEqualTo("300m");
    assertThat(chart.pods().path("terminationGracePeriodSeconds").asInt()).isEqualTo(600);
  }

  @Test
  void scalesAsKnativesDoes() {
    var chart = Chart.replacing("autoscaling: {minReplicas: 2}");
    var scaling = chart.only("HorizontalPodAutoscaler").path("spec");

    assertThat(scaling.path("minReplicas").asInt()).isEqualTo(2);
    assertThat(scaling.path("maxReplicas").asInt()).isEqualTo(20);
    assertThat(scaling.at("/metrics/0/resource/target/averageUtilization").asInt()).isEqualTo(100);
    assertThat(chart.only("PodDisruptionBudget").at("/spec/minAvailable").asString())
        .isEqualTo("80%");
    assertThat(chart.only("Deployment").at("/spec/replicas").isMissingNode()).isTrue();
  }

  @Test
  void setsTheReplicasWhereNothingElseDoes() {
    var chart = Chart.replacing("autoscaling: {enabled: false}", "replicas: 3");

    assertThat(chart.only("Deployment").at("/spec/replicas").asInt()).isEqualTo(3);
    assertThat(chart.all("HorizontalPodAutoscaler")).isEmpty();
  }

  @Test
  void permitsTokenReviewsOnlyWhereTokensAreRequired() {
    for (var mode : List.of("replace", "beside", "standalone")) {
      var release = mode.equals("beside") ? "trial" : "activator";
      var open = Chart.installed(release, "knative-serving", "mode: " + mode);
      var checked = Chart.installed(release, "knative-serving", "mode: " + mode,
          "console: {auth: token}", "networkPolicy: {consoleFrom: [{podSelector: {}}]}");

      assertThat(open.toString()).doesNotContain("tokenreviews", "8015", "ACTIVATOR_CONSOLE");
      assertThat(checked.all("ClusterRole").getFirst().toString()).contains(
          "{\"apiGroups\":[\"authentication.k8s.io\"],\"resources\":[\"tokenreviews\"],\"verbs\":[\"create\"]}",
          "{\"apiGroups\":[\"authorization.k8s.io\"],\"resources\":[\"subjectaccessreviews\"],\"verbs\":[\"create\"]}");
      assertThat(variable(checked, "ACTIVATOR_CONSOLE_AUTH")).isEqualTo("token");
      assertThat(variable(checked, "ACTIVATOR_CONSOLE_BINDADDRESS")).isEqualTo("0.0.0.0");
      assertThat(checked.only("NetworkPolicy").path("spec").toString())
          .contains("{\"ports\":[{\"port\":8015}],\"from\":[{\"podSelector\":{}}]}");
    }
  }

  @Test
  void allowsOnlyRequestsMetricsAndActivators_unlessConfigured() {
    var ports = new ArrayList<String>();
    Chart.replacing().only("NetworkPolicy").at("/spec/ingress").forEach(
        rule -> rule.path("ports").forEach(
            port -> ports.add(port.path("port") + (rule.has("from") ? " from some" : ""))));

    assertThat(ports).containsExactly("8012", "8013", "8112", "8014 from some", "9090");
    assertThat(Chart.beside("networkPolicy: {enabled: false}").all("NetworkPolicy")).isEmpty();
    assertThat(Chart.beside("networkPolicy: {extraIngress: [{ports: [{port: 4180}]}]}")
        .only("NetworkPolicy").at("/spec/ingress").toString())
        .endsWith("{\"ports\":[{\"port\":4180}]}]");
  }

  @Test
  void handsOverVariablesAndProperties() {
    var chart = Chart.replacing("env: [{name: MAX_IDLE_PROXY_CONNS_PER_HOST, value: '200'}]",
        "properties: {activator.serving.queue-capacity: 2000000, activator.probe.timeout: 1s}");

    assertThat(variable(chart, "MAX_IDLE_PROXY_CONNS_PER_HOST")).isEqualTo("200");
    assertThat(variable(chart, "ACTIVATOR_SERVING_QUEUECAPACITY")).isEqualTo("2000000");
    assertThat(variable(chart, "ACTIVATOR_PROBE_TIMEOUT")).isEqualTo("1s");
  }

  /** As variables, names that do not exist would be passed over in silence. */
  @Test
  void takesEveryPropertyThereIsButPorts() throws Exception {
    var names = Pattern.compile("^\\| `(activator\\.[a-z0-9.-]+)` \\|", Pattern.MULTILINE)
        .matcher(Files.readString(Path.of("docs", "configuration.md"))).results()
        .map(row -> row.group(1)).filter(name -> !name.matches("activator\\.port\\..*"
            + "|activator\\.(admit|lending|metrics-server|picker|profiling)\\.port"
            + "|activator\\.console\\..*"))
        .distinct().toList();
    String values = names.stream().map(name -> name + ": x").collect(Collectors.joining(", "));

    assertThat(names).hasSizeGreaterThan(40);
    assertThat(variables(Chart.replacing("properties: {" + values + "}")))
        .hasSize(variables(Chart.replacing()).size() + names.size());
  }

  @Test
  void givesNoArgumentThatKnativesImageWouldNotStartWith() {
    var chart = Chart
        .replacing("properties: {activator.probe.timeout: 1s, server.ssl.enabled: false}");

    assertThat(chart.container().has("args")).isFalse();
    assertThat(variable(chart, "SERVER_SSL_ENABLED")).isEqualTo("false");
  }

  @Test
  void namesAnImageByDigestOrTag() {
    String digest = "sha256:" + "0".repeat(64);

    assertThat(image()).matches("ghcr\\.io/.+/activator:\\d+\\.\\d+\\.\\d+");
    assertThat(image("image: {repository: r.test/a, tag: '7'}")).isEqualTo("r.test/a:7");
    assertThat(image("image: {repository: r.test/a, digest: '" + digest + "'}"))
        .isEqualTo("r.test/a@" + digest);
  }

  private static String image(String... values) {
    return Chart.replacing(values).container().path("image").asString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"mode: instead", "imag: {tag: '1'}", "image: {tagg: '1'}",
      "env: [{name: MAX_IDLE_PROXY_CONS, value: '1'}]", "env: [{name: POD_NAME, value: me}]",
      "replicas: many",
      "properties: {activater.serving.queue-capacity: 1}", "resources: {limit: {cpu: 1}}",
      "image: {repository: r, digest: 'sha256:beef'}", "rbac: {nodes: true}",
      "env: [{name: METRICS_PROMETHEUS_PORT, value: '9091'}]",
      "env: [{name: PROFILING_PORT, value: '8009'}]",
      "properties: {activator.serving.queue-capcity: 1}",
      "properties: {activator.port.http1: 80}", "properties: {activator.port.https: 8443}",
      "properties: {server.port: 9091}", "properties: {management.server.port: 9091}",
      "properties: {activator.metrics-server.port: 9091}",
      "properties: {activator.profiling.port: 8009}", "console: {auth: password}",
      "properties: {activator.console.port: 8016}", "properties: {activator.console.auth: none}",
      "properties: {activator.lending.port: 8015}", "podLabels: {app: mine}",
      "podLabels: {role: mine}", "fullnameOverride: trial",
      "config: {logging: {loglevel.activator: debug}}",
      "config: {createNetwork: true}"})
  void refusesValuesThatMeanNothing(String value) {
    assertThatThrownBy(() -> Chart.replacing(value))
        .hasMessageContaining("values don't meet the specifications of the schema");
  }

  @Test
  void refusesToReplaceWhatIsElsewhere() {
    assertThatThrownBy(() -> Chart.installed("activator", "default"))
        .hasMessageContaining("use --namespace knative-serving")
        .hasMessageContaining("without Knative, set mode to standalone");
  }

  @Test
  void refusesALeastNumberOfReplicasAboveTheMost() {
    assertThatThrownBy(() -> Chart.replacing("autoscaling: {minReplicas: 3, maxReplicas: 2}"))
        .hasMessageContaining("autoscaling.minReplicas is 3, but autoscaling.maxReplicas is 2");
  }

  @Test
  void refusesKnativesNamesBesideIt() {
    assertThatThrownBy(() -> Chart.installed("activator", "knative-serving", "mode: beside"))
        .hasMessageContaining("needs a name that is not Knative's");
  }

  @Test
  void callsTheServiceThatItInstalled(@TempDir Path copy) throws Exception {
    var replacing = Chart.withTests(copy.resolve("1"), "activator", "knative-serving");
    var beside = Chart.withTests(copy.resolve("2"), "trial", "trials", "mode: beside");

    for (var chart : List.of(replacing, beside)) {
      var asking = chart.only("Pod");
      assertThat(asking.at("/metadata/annotations/hook").asString()).isEqualTo("test");
      assertThat(asking.at("/spec/containers/0/env/0/value").asString())
          .isEqualTo(service(chart.only("Service")));
    }
  }

  private static String service(JsonNode service) {
    var metadata = service.path("metadata");
    return metadata.path("name").asString() + "." + metadata.path("namespace").asString() + ".svc";
  }

  private static List<String> variables(Chart chart) {
    var names = new ArrayList<String>();
    chart.container().path("env").forEach(entry -> names.add(entry.path("name").asString()));
    return names;
  }

  private static String variable(Chart chart, String name) {
    for (var entry : chart.container().path("env")) {
      if (entry.path("name").asString().equals(name)) {
        return entry.path("value").asString();
      }
    }
    throw new AssertionError("no " + name + " in " + variables(chart));
  }

  private static Map<String, String> texts(JsonNode object) {
    var texts = new TreeMap<String, String>();
    object.properties().forEach(entry -> texts.put(entry.getKey(), entry.getValue().asString()));
    return texts;
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', value = {
      "beside  | autoscaling: {minReplicas: 1}                          | maxUnavailable 20%",
      "replace | autoscaling: {minReplicas: 1}                          | minAvailable 0",
      "replace | autoscaling: {minReplicas: 2}                          | minAvailable 80%",
      "replace | '{autoscaling: {enabled: false}, replicas: 1}'         | minAvailable 0",
      "replace | '{autoscaling: {enabled: false}, replicas: 3}'         | minAvailable 80%",
      "beside  | podDisruptionBudget: {minAvailable: 1}                 | minAvailable 1",
      "replace | podDisruptionBudget: {maxUnavailable: 0}               | maxUnavailable 0"})
  void letsANodeBeDrainedWithOneReplica(String mode, String values, String expected) {
    String[] lines = values.startsWith("{")
        ? values.substring(1, values.length() - 1)
            .split(", (?=replicas)")
        : new String[]{values};
    var chart = mode.equals("beside") ? Chart.beside(lines) : Chart.replacing(lines);

    var budget = chart.only("PodDisruptionBudget").path("spec");

    String[] field = expected.split(" ");
    assertThat(budget.path(field[0]).asString()).isEqualTo(field[1]);
    assertThat(budget.size()).isEqualTo(2);
  }

  @Test
  void addsWhatOperatorsAddToAnyDeployment() {
    var chart = Chart.beside("strategy: {rollingUpdate: {maxUnavailable: 0}}",
        "podSecurityContext: {fsGroup: 1000}", "commonLabels: {team: edge}",
        "autoscaling: {behavior: {scaleDown: {stabilizationWindowSeconds: 60}}}",
        "env: [{name: OTEL_SERVICE_NAME, valueFrom: {configMapKeyRef: {name: a, key: b}}}]",
        "extraContainers: [{name: sidecar, image: x}]",
        "extraInitContainers: [{name: before, image: y}]",
        "extraObjects: [{apiVersion: v1, kind: Secret, metadata: {name: '{{ .Release.Name }}-s'}},"
            + " \"apiVersion: v1\\nkind: Secret\\nmetadata: {name: t}\"]");

    var deployment = chart.only("Deployment");
    assertThat(deployment.at("/spec/strategy/rollingUpdate/maxUnavailable").asInt(-1)).isZero();
    assertThat(chart.pods().at("/securityContext/fsGroup").asInt()).isEqualTo(1000);
    assertThat(chart.pods().at("/containers/1/name").asString()).isEqualTo("sidecar");
    assertThat(chart.pods().at("/initContainers/0/name").asString()).isEqualTo("before");
    assertThat(chart.only("HorizontalPodAutoscaler")
        .at("/spec/behavior/scaleDown/stabilizationWindowSeconds").asInt()).isEqualTo(60);
    assertThat(chart.container().path("env").toString())
        .contains("\"valueFrom\":{\"configMapKeyRef\":{\"key\":\"b\",\"name\":\"a\"}}");
    assertThat(chart.names()).contains("Secret trial-s", "Secret t");
    assertThat(chart.objects()).filteredOn(one -> !one.path("kind").asString().equals("Secret"))
        .allSatisfy(one -> assertThat(one.at("/metadata/labels/team").asString())
            .as(Chart.name(one)).isEqualTo("edge"));
  }

  @Test
  void takesOtherTimesAndHandlersOfProbes() {
    var container = Chart.beside("readinessProbe: {periodSeconds: 1}",
        "livenessProbe: {exec: {command: ['true']}}", "startupProbe: {failureThreshold: 30}")
        .container();

    assertThat(container.at("/readinessProbe/periodSeconds").asInt()).isEqualTo(1);
    assertThat(container.at("/readinessProbe/httpGet/port").asInt()).isEqualTo(8012);
    assertThat(container.at("/livenessProbe/exec/command/0").asString()).isEqualTo("true");
    assertThat(container.at("/livenessProbe/httpGet").isMissingNode()).isTrue();
    assertThat(container.at("/startupProbe/httpGet/port").asInt()).isEqualTo(8012);
    assertThat(Chart.beside().container().has("startupProbe")).isFalse();
  }

  @Test
  void alertsAsTheValuesSay() {
    var rules = Chart.beside("prometheusRule: {enabled: true, errorRatio: 0.2,"
        + " errorMinRequestsPerSecond: 7, rejectsPerSecond: 3, heldFor: 9m,"
        + " runbookUrl: 'https://runbooks/', alertLabels: {team: edge}}").only("PrometheusRule")
        .at("/spec/groups/0/rules");

    for (var rule : rules) {
      String name = rule.path("alert").asString();
      assertThat(rule.at("/annotations/runbook_url").asString())
          .isEqualTo("https://runbooks/" + name.toLowerCase(Locale.ROOT));
      assertThat(rule.at("/labels/team").asString()).isEqualTo("edge");
      String expression = rule.path("expr").asString();
      switch (name) {
        case "ActivatorErrors" -> assertThat(expression).contains("> 0.2", "> 7");
        case "ActivatorRejects" -> assertThat(expression).endsWith("> 3");
        case "ActivatorRequestsHeld" -> assertThat(rule.path("for").asString()).isEqualTo("9m");
        default -> {
        }
      }
    }
  }

  @Test
  void everyAlertHasItsPartOfTheRunbook() throws Exception {
    String page = Files.readString(Path.of("docs", "operations.md"));

    for (var rule : Chart.beside("prometheusRule: {enabled: true}").only("PrometheusRule")
        .at("/spec/groups/0/rules")) {
      assertThat(page).contains("\n#### " + rule.path("alert").asString() + "\n");
      assertThat(rule.at("/annotations/runbook_url").asString())
          .endsWith("docs/operations.md#" + rule.path("alert").asString().toLowerCase(Locale.ROOT));
    }
  }

  @Test
  void installsEverythingForAClusterWithoutKnative() {
    var chart = Chart.installed("web", "edge", "mode: standalone");

    assertThat(chart.names()).contains("CustomResourceDefinition scaledservices.activator.dev",
        "Deployment edge/web", "Service edge/web", "ConfigMap edge/web-logging",
        "ConfigMap edge/web-observability", "ConfigMap edge/config-network",
        "ClusterRoleBinding edge-web-scale");
    var variables = new TreeMap<String, String>();
    chart.container().path("env").forEach(one -> variables.put(one.path("name").asString(),
        one.path("value").asString("")));
    assertThat(variables).containsEntry("ACTIVATOR_MODE", "standalone")
        .containsEntry("ACTIVATOR_STANDALONE_SERVICE", "web")
        .containsEntry("ACTIVATOR_STANDALONE_LEASE", "web")
        .containsEntry("SYSTEM_NAMESPACE", "edge");
  }

  @Test
  void mayScaleOnlyWhereItIsConfiguredAndReadsNoSecretButItsOwn() {
    var chart = Chart.installed("web", "edge", "mode: standalone",
        "standalone: {namespaces: [shop, blog]}");

    assertThat(chart.names()).contains("RoleBinding shop/edge-web-scale",
        "RoleBinding blog/edge-web-scale").doesNotContain("ClusterRoleBinding edge-web-scale");
    var rules = new ArrayList<String>();
    for (String kind : List.of("Role", "ClusterRole")) {
      chart.all(kind).stream().filter(role -> !isOfPeople(role))
          .forEach(role -> role.path("rules").forEach(rule -> rules.add(
              rule.path("apiGroups") + " " + rule.path("resources") + " " + rule.path("verbs")
                  + (rule.has("resourceNames") ? " " + rule.path("resourceNames") : ""))));
    }
    assertThat(rules).containsExactlyInAnyOrder(
        "[\"\"] [\"configmaps\"] [\"list\",\"watch\"]",
        "[\"coordination.k8s.io\"] [\"leases\"] [\"create\"]",
        "[\"coordination.k8s.io\"] [\"leases\"] [\"get\",\"update\"] [\"web\"]",
        "[\"\"] [\"secrets\"] [\"get\",\"update\"] [\"activator-peers\"]",
        "[\"activator.dev\"] [\"scaledservices\"] [\"get\",\"list\",\"watch\"]",
        "[\"\"] [\"services\"] [\"list\",\"watch\"]",
        "[\"apps\"] [\"deployments\",\"statefulsets\"] [\"list\",\"watch\"]",
        "[\"autoscaling\"] [\"horizontalpodautoscalers\"] [\"list\",\"watch\"]",
        "[\"discovery.k8s.io\"] [\"endpointslices\"] [\"list\",\"watch\"]",
        "[\"*\"] [\"*/scale\"] [\"get\",\"patch\"]",
        "[\"activator.dev\"] [\"scaledservices/status\"] [\"patch\"]",
        "[\"\"] [\"events\"] [\"create\",\"patch\"]");
  }

  /** Added to Kubernetes' own roles, and bound to no activator. */
  private static boolean isOfPeople(JsonNode role) {
    return role.at("/metadata/labels").toString().contains("/aggregate-to-");
  }

  @Test
  void letsThoseWhoMayEditANamespaceWriteItsScaledServices_butNotTheirStatus() {
    var roles = Chart.installed("web", "edge", "mode: standalone").all("ClusterRole").stream()
        .filter(ChartTest::isOfPeople).map(role -> role.at("/metadata/name").asString("") + " "
            + role.at("/rules/0/resources") + " " + role.at("/rules/0/verbs").size());

    assertThat(roles).allMatch(role -> !role.contains("edit") || !role.contains("status"))
        .extracting(role -> role.replaceAll(".*(view|edit) (.*)", "$1 $2"))
        .containsExactlyInAnyOrder("edit [\"scaledservices\",\"scaledservices/scale\"] 5",
            "view [\"scaledservices\",\"scaledservices/status\",\"scaledservices/scale\"] 3");
    assertThat(
        Chart.installed("web", "edge", "mode: standalone", "rbac: {aggregate: false}")
            .all("ClusterRole"))
        .noneMatch(ChartTest::isOfPeople);
    assertThat(Chart.replacing().all("ClusterRole")).noneMatch(ChartTest::isOfPeople);
  }

  @Test
  void hasMetricsWithoutKnative_unlessTheyAreTurnedOff() {
    assertThat(observability("mode: standalone")).isEqualTo("prometheus");
    assertThat(observability("mode: standalone",
        "config: {observability: {metrics-protocol: none}}")).isEqualTo("none");
    assertThat(observability("mode: beside")).isEmpty();
  }

  private static String observability(String... values) {
    return Chart.installed("web", "edge", values).all("ConfigMap").stream()
        .filter(map -> map.at("/metadata/name").asString("").endsWith("observability")).findFirst()
        .orElseThrow().at("/data/metrics-protocol").asString("");
  }

  @Test
  void saysInAScaledServiceWhereItMayNotScaleThatItMayNot() {
    var chart = Chart.installed("web", "edge", "mode: standalone",
        "standalone: {namespaces: [shop, blog]}");

    assertThat(chart.all("ClusterRole").stream()
        .filter(role -> role.at("/metadata/name").asString().equals("edge-web-cluster"))
        .flatMap(role -> role.path("rules").valueStream())
        .map(rule -> rule.path("resources") + " " + rule.path("verbs")))
        .contains("[\"scaledservices/status\"] [\"patch\"]",
            "[\"events\"] [\"create\",\"patch\"]");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      mode: standalone | web
      {mode: standalone, properties: {activator.standalone.lease: theirs}} | theirs
      {mode: beside, rescue: true} | activator-rescue
      """)
  void mayReadAndRenewOneLeaseOnly(String values, String lease) {
    var chart = Chart.installed("web", "edge", values);

    var rules = new ArrayList<String>();
    chart.only("Role").path("rules").forEach(rule -> {
      if (rule.path("resources").toString().contains("leases")) {
        rules.add(rule.path("verbs") + " " + rule.path("resourceNames"));
      }
    });
    assertThat(rules).containsExactly("[\"create\"] ",
        "[\"get\",\"update\"] [\"" + lease + "\"]");
    assertThat(chart.container().path("env").valueStream()
        .filter(one -> one.path("name").asString().equals("ACTIVATOR_STANDALONE_LEASE"))
        .map(one -> one.path("value").asString()))
        .as("not twice, which a server-side apply refuses")
        .containsExactlyElementsOf(values.contains("standalone") ? List.of(lease) : List.of());
  }

  @Test
  void passesOnWhatAPodTakes() {
    var chart = Chart.replacing("runtimeClassName: gvisor", "dnsPolicy: None",
        "dnsConfig: {nameservers: [10.0.0.53]}",
        "hostAliases: [{ip: 10.0.0.9, hostnames: [db]}]", "revisionHistoryLimit: 0",
        "extraEnvFrom: [{secretRef: {name: telemetry}}]");

    var deployment = chart.only("Deployment");
    assertThat(deployment.at("/spec/revisionHistoryLimit").asInt(-1)).isZero();
    var pod = deployment.at("/spec/template/spec");
    assertThat(pod.path("runtimeClassName").asString("")).isEqualTo("gvisor");
    assertThat(pod.path("dnsPolicy").asString("")).isEqualTo("None");
    assertThat(pod.at("/dnsConfig/nameservers/0").asString("")).isEqualTo("10.0.0.53");
    assertThat(pod.at("/hostAliases/0/hostnames/0").asString("")).isEqualTo("db");
    assertThat(pod.at("/containers/0/envFrom/0/secretRef/name").asString(""))
        .isEqualTo("telemetry");
    assertThat(Chart.replacing().only("Deployment").path("spec").has("revisionHistoryLimit"))
        .isFalse();
  }

  @Test
  void passesOnHowAServiceDistributesRequests() {
    var service = Chart
        .replacing(
            "service: {trafficDistribution: PreferSameZone, ipFamilyPolicy: PreferDualStack}")
        .only("Service");

    assertThat(service.at("/spec/trafficDistribution").asString("")).isEqualTo("PreferSameZone");
    assertThat(service.at("/spec/ipFamilyPolicy").asString("")).isEqualTo("PreferDualStack");
  }

  @ParameterizedTest
  @CsvSource({"ghcr.io/activator-dev/activator, mirror.corp:5000/activator-dev/activator",
      "localhost:5000/activator, mirror.corp:5000/activator",
      "activator-dev/activator, mirror.corp:5000/activator-dev/activator"})
  void takesImagesFromTheGlobalRegistry(String repository, String expected) {
    var image = Chart.replacing("global: {imageRegistry: 'mirror.corp:5000/'}",
        "image: {repository: '" + repository + "', tag: v1}").only("Deployment")
        .at("/spec/template/spec/containers/0/image").asString("");

    assertThat(image).isEqualTo(expected + ":v1");
  }

  @Test
  void gatewaysMayConnectToASeparatePort_onlyWhenEnabled() {
    var without = Chart.installed("web", "edge", "mode: standalone",
        "networkPolicy: {enabled: true}");
    var with = Chart.installed("web", "edge", "mode: standalone", "networkPolicy: {enabled: true}",
        "admit: {enabled: true, from: [{namespaceSelector: {}}]}");

    assertThat(without.only("Service").toString() + without.pods() + without.only("NetworkPolicy"))
        .doesNotContain("8016", "ADMIT");
    assertThat(with.only("Service").at("/spec/ports").valueStream())
        .anyMatch(port -> port.path("port").asInt() == 8016
            && port.path("name").asString().equals("http-admit"));
    assertThat(with.container().path("env").toString()).contains("ACTIVATOR_ADMIT_ENABLED");
    assertThat(with.container().path("ports").toString()).contains("8016");
    assertThat(with.only("NetworkPolicy").at("/spec/ingress").valueStream())
        .anySatisfy(rule -> {
          assertThat(rule.at("/ports/0/port").asInt()).isEqualTo(8016);
          assertThat(rule.path("from").toString()).contains("namespaceSelector");
        });
  }

  @Test
  void opensThePortOfTheEndpointPickerOnlyIfItIsEnabled() {
    var without = Chart.installed("web", "edge", "mode: standalone",
        "networkPolicy: {enabled: true}");
    var with = Chart.installed("web", "edge", "mode: standalone", "networkPolicy: {enabled: true}",
        "picker: {enabled: true, from: [{namespaceSelector: {}}]}");

    assertThat(without.only("Service").toString() + without.pods() + without.only("NetworkPolicy"))
        .doesNotContain("9002", "PICKER");
    assertThat(with.only("Service").at("/spec/ports").valueStream())
        .anyMatch(port -> port.path("port").asInt() == 9002
            && port.path("appProtocol").asString().equals("http2"));
    assertThat(with.container().path("env").toString()).contains("ACTIVATOR_PICKER_ENABLED")
        .doesNotContain("ACTIVATOR_PICKER_TLS");
    var plain = Chart.installed("web", "edge", "mode: standalone",
        "picker: {enabled: true, tls: false}");
    assertThat(variable(plain, "ACTIVATOR_PICKER_TLS")).isEqualTo("false");
    assertThat(plain.only("Service").at("/spec/ports").valueStream())
        .anyMatch(port -> port.path("port").asInt() == 9002
            && port.path("appProtocol").asString().equals("kubernetes.io/h2c"));
    assertThat(with.container().path("ports").toString()).contains("9002");
    assertThat(with.only("NetworkPolicy").at("/spec/ingress").valueStream())
        .anySatisfy(rule -> {
          assertThat(rule.at("/ports/0/port").asInt()).isEqualTo(9002);
          assertThat(rule.path("from").toString()).contains("namespaceSelector");
        });
  }

  @Test
  void eachPortForConnectionsIsAPortOfTheService() {
    var without = Chart.installed("db", "edge", "mode: standalone",
        "networkPolicy: {enabled: true}");
    var with = Chart.installed("db", "edge", "mode: standalone", "networkPolicy: {enabled: true}",
        "standalone: {tcpPorts: 9100-9102, sniPort: 9443, proxyProtocolFrom: [10.0.0.0/8, 'fd00::1']}");

    assertThat(without.only("Service").toString() + without.pods() + without.only("NetworkPolicy"))
        .doesNotContain("tcp-", "tls-sni", "TCPPORTS", "SNIPORT", "PROXYPROTOCOLFROM",
            "endPort");
    assertThat(with.only("Service").at("/spec/ports").valueStream()
        .filter(port -> port.path("name").asString().startsWith("tcp-"))
        .map(port -> port.path("port").asInt())).containsExactly(9100, 9101, 9102);
    assertThat(with.only("Service").at("/spec/ports").toString())
        .contains("\"name\":\"tls-sni\",\"port\":9443,\"targetPort\":9443");
    assertThat(with.container().path("env").toString()).contains("ACTIVATOR_STANDALONE_TCPPORTS",
        "9100-9102", "ACTIVATOR_STANDALONE_SNIPORT", "9443",
        "ACTIVATOR_STANDALONE_PROXYPROTOCOLFROM", "10.0.0.0/8,fd00::1");
    assertThat(with.only("NetworkPolicy").at("/spec/ingress/0/ports").toString())
        .contains("\"port\":9443", "\"port\":9100,\"endPort\":9102");
  }

  @Test
  void mayWriteTheServicesOfInferencePoolsOnlyIfItReadsThem() {
    var without = Chart.installed("web", "edge", "mode: standalone", "picker: {enabled: true}");
    var with = Chart.installed("web", "edge", "mode: standalone",
        "picker: {enabled: true, pools: true}");

    assertThat(without.only("Role").toString()).doesNotContain("inferencepools", "create, patch");
    assertThat(without.container().path("env").toString()).doesNotContain("PICKER_SERVICE");
    assertThat(with.only("Role").toString()).contains("inferencepools/status");
    assertThat(variable(with, "ACTIVATOR_PICKER_SERVICE"))
        .isEqualTo(with.only("Service").at("/metadata/name").asString());
  }

  @Test
  void keepsScaledServices_whenItIsUninstalled() {
    var kept = Chart.installed("activator", "activator", "mode: standalone");
    var deleted = Chart.installed("activator", "activator", "mode: standalone",
        "crds: {keep: false}");
    var others = Chart.installed("activator", "activator", "mode: standalone",
        "crds: {install: false}");

    assertThat(kept.only("CustomResourceDefinition").at("/metadata/annotations")
        .path("helm.sh/resource-policy").asString("")).isEqualTo("keep");
    assertThat(deleted.only("CustomResourceDefinition").at("/metadata").has("annotations"))
        .isFalse();
    assertThat(others.names()).noneMatch(name -> name.startsWith("CustomResourceDefinition"));
  }

  @Test
  void installsTheDefinitionAsItIsWritten() throws Exception {
    var written = (ObjectNode) new YAMLMapper()
        .readTree(Chart.SOURCE.resolve("files/scaledservices.yaml").toFile());

    var installed = Chart.installed("activator", "activator", "mode: standalone")
        .only("CustomResourceDefinition");

    assertThat(installed.path("spec")).isEqualTo(written.path("spec"));
  }

  @Test
  void showsAScaledServiceThatKubernetesAccepts() throws Exception {
    var notes = Files.readString(Chart.SOURCE.resolve("templates/NOTES.txt"));
    int begin = notes.indexOf("  apiVersion: activator.dev/v1alpha1");
    var example = notes.substring(begin, notes.indexOf("\n\n", begin)).stripIndent();
    var store = new ApiStore(Clock.systemUTC());
    ScaledServiceCrd.createIn(store);

    var accepted = store.create(ScaledServiceCrd.of(store),
        (ObjectNode) new YAMLMapper().readTree(example));

    assertThat(accepted.at("/spec/scaleTargetRef/name").asString()).isEqualTo("web");
  }
}
