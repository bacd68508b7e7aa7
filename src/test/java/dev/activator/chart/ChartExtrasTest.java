package dev.activator.chart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** What the chart adds around the Deployment, if asked: routes, certificates, monitors, autoscaling. */
class ChartExtrasTest {
  private static final String CERTIFICATE = "certificate: {enabled: true, metrics: true,"
      + " issuerRef: {name: ca}, dnsNames: [activator.corp]}";

  /** In which version Kubernetes began to serve what the roles without Knative name. */
  private static final Map<String, Integer> SERVED_SINCE = Map.ofEntries(Map.entry("configmaps", 1),
      Map.entry("leases.coordination.k8s.io", 14), Map.entry("secrets", 1),
      Map.entry("events", 1), Map.entry("services", 1), Map.entry("deployments.apps", 9),
      Map.entry("statefulsets.apps", 9), Map.entry("horizontalpodautoscalers.autoscaling", 23),
      Map.entry("endpointslices.discovery.k8s.io", 21), Map.entry("pods", 1),
      Map.entry("tokenreviews.authentication.k8s.io", 6),
      Map.entry("subjectaccessreviews.authorization.k8s.io", 6), Map.entry("*/scale.*", 9),
      Map.entry("scaledservices.activator.dev", 0),
      Map.entry("scaledservices/scale.activator.dev", 0),
      Map.entry("scaledservices/status.activator.dev", 0));
  /** Functions of CEL that each version with rules in definitions has. */
  private static final List<String> OLDEST_CEL = List.of("has", "size", "matches", "all",
      "exists", "in");

  private static Chart standalone(String... values) {
    var all = new ArrayList<>(List.of("mode: standalone"));
    all.addAll(List.of(values));
    return Chart.installed("web", "edge", all.toArray(String[]::new));
  }

  private static String rendered(String kubernetes, String mode) throws Exception {
    var values = Files.createTempFile("values", ".yaml");
    try {
      Files.writeString(values, "mode: " + mode + "\n");
      return new Helm(Chart.SOURCE).template().withName("trial")
          .withNamespace(mode.equals("replace") ? "knative-serving" : "edge")
          .withKubeVersion(kubernetes).withValuesFile(values).call();
    } finally {
      Files.delete(values);
    }
  }

  @ParameterizedTest(name = "{0} on {1}: {2}")
  @CsvSource({"standalone, 1.29.0, true", "standalone, 1.28.9, false", "replace, 1.34.0, true",
      "beside, 1.34.0-gke.100, true", "replace, 1.33.9, false", "beside, 1.29.0, false"})
  void installsOnTheVersionsThatEachModeAllows(String mode, String version, boolean allowed)
      throws Exception {
    if (allowed) {
      assertThat(rendered(version, mode)).contains("kind: Deployment");
    } else {
      assertThatThrownBy(() -> rendered(version, mode)).hasMessageContaining("1.")
          .hasMessageContaining(version);
    }
  }

  @Test
  void callsOnlyWhatTheOldestVersionServesWithoutKnative() throws Exception {
    var resources = new ArrayList<String>();
    for (var role : List.of("Role", "ClusterRole")) {
      standalone("rbac: {pods: true, events: true}", "console: {auth: token}").all(role).forEach(
          each -> each.path("rules").forEach(rule -> rule.path("apiGroups").forEach(
              group -> rule.path("resources").forEach(resource -> resources.add(
                  resource.asString()
                      + (group.asString().isEmpty() ? "" : "." + group.asString()))))));
    }

    assertThat(resources).isNotEmpty()
        .allSatisfy(resource -> assertThat(SERVED_SINCE.get(resource)).as(resource)
            .isNotNull().isLessThanOrEqualTo(29));
    var rules = standalone().only("CustomResourceDefinition").findValues("rule");
    assertThat(rules).isNotEmpty().allSatisfy(rule -> assertThat(
        Pattern.compile("\\b([a-zA-Z]+)\\(").matcher(rule.asString().replaceAll("'[^']*'", ""))
            .results().map(call -> call.group(1)))
        .allMatch(OLDEST_CEL::contains));
    assertThat(variables(standalone())).containsEntry("KUBERNETES_MIN_VERSION", "v1.29.0");
    assertThat(variables(Chart.replacing())).doesNotContainKey("KUBERNETES_MIN_VERSION");
    assertThat(variables(standalone("env: [{name: KUBERNETES_MIN_VERSION, value: v1.31.0}]")))
        .containsEntry("KUBERNETES_MIN_VERSION", "v1.31.0");
  }

  private static Map<String, String> variables(Chart chart) {
    var all = new TreeMap<String, String>();
    chart.container().path("env").forEach(
        one -> assertThat(all.put(one.path("name").asString(), one.path("value").asString("")))
            .as("twice").isNull());
    return all;
  }

  @Test
  void saysWhichProtocolEachPortOfTheServiceSpeaks() {
    var protocols = new ArrayList<String>();
    Chart.replacing().only("Service").at("/spec/ports").forEach(
        port -> protocols
            .add(port.path("name").asString() + " " + port.path("appProtocol").asString()));

    assertThat(protocols).containsExactly("http-metrics http", "http-profiling http", "http http",
        "http2 kubernetes.io/h2c", "https https");
    assertThat(
        Chart.replacing(CERTIFICATE).only("Service").at("/spec/ports/0/appProtocol").asString())
        .isEqualTo("https");
  }

  @Test
  void leadsAGatewayToTheService() {
    var chart = standalone(
        "httpRoute: {enabled: true, parentRefs: [{name: edge, namespace: infra}],"
            + " hostnames: [shop.example.com]}",
        "referenceGrant: {namespaces: [shop, blog]}");

    var route = chart.only("HTTPRoute").path("spec");
    assertThat(route.at("/parentRefs/0/name").asString()).isEqualTo("edge");
    assertThat(route.at("/hostnames/0").asString()).isEqualTo("shop.example.com");
    assertThat(route.at("/rules/0/matches/0/path").toString())
        .isEqualTo("{\"type\":\"PathPrefix\",\"value\":\"/\"}");
    var backend = route.at("/rules/0/backendRefs/0");
    assertThat(backend.path("name").asString())
        .isEqualTo(chart.only("Service").at("/metadata/name").asString());
    assertThat(chart.only("Service").at("/spec/ports").findValues("port"))
        .contains(backend.path("port"));
    assertThat(route.at("/rules/0/timeouts/request").asString()).isEqualTo("0s");
    var grant = chart.only("ReferenceGrant").path("spec");
    assertThat(grant.path("from").findValuesAsString("namespace")).containsExactly("shop", "blog");
    assertThat(grant.at("/to/0/name")).isEqualTo(backend.path("name"));
    assertThat(standalone().names())
        .noneMatch(name -> name.matches("(HTTPRoute|ReferenceGrant) .*"));
  }

  @Test
  void refusesARouteWithoutAGateway() {
    assertThatThrownBy(() -> standalone("httpRoute: {enabled: true}"))
        .hasMessageContaining("httpRoute.parentRefs names no Gateway");
  }

  @Test
  void hasACertificateForRequestsAndMetrics() {
    var chart = Chart.replacing(CERTIFICATE, "extraVolumes: [{name: more, emptyDir: {}}]",
        "extraVolumeMounts: [{name: more, mountPath: /more}]", "serviceMonitor: {enabled: true}");

    var certificate = chart.only("Certificate").path("spec");
    assertThat(certificate.path("dnsNames").toString()).isEqualTo(
        "[\"activator-service.knative-serving.svc\",\"activator-service.knative-serving\",\"activator.corp\"]");
    assertThat(certificate.at("/issuerRef/name").asString()).isEqualTo("ca");
    assertThat(chart.pods().at("/volumes/0/secret/secretName"))
        .isEqualTo(certificate.path("secretName"));
    assertThat(chart.pods().at("/volumes/1/name").asString()).isEqualTo("more");
    assertThat(chart.container().at("/volumeMounts/0/mountPath").asString())
        .isEqualTo("/etc/activator/tls");
    assertThat(chart.container().at("/volumeMounts/1/mountPath").asString()).isEqualTo("/more");
    assertThat(variables(chart))
        .containsEntry("ACTIVATOR_TLS_CERTIFICATE", "/etc/activator/tls/tls.crt")
        .containsEntry("METRICS_PROMETHEUS_TLS_KEY", "/etc/activator/tls/tls.key");
    assertThat(chart.container().at("/livenessProbe/httpGet/scheme").asString()).isEqualTo("HTTPS");
    var scraped = chart.only("ServiceMonitor").at("/spec/endpoints/0");
    assertThat(scraped.path("scheme").asString()).isEqualTo("https");
    assertThat(scraped.at("/tlsConfig/ca/secret/name")).isEqualTo(certificate.path("secretName"));
    assertThat(certificate.path("dnsNames").toString())
        .contains(scraped.at("/tlsConfig/serverName").asString());
    assertThat(Chart.replacing().names()).noneMatch(name -> name.startsWith("Certificate"));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', value = {
      "certificate: {enabled: true}|certificate.issuerRef.name names no issuer",
      "certificate: {metrics: true}|certificate.enabled is not",
      "'{serviceMonitor: {enabled: true}, podMonitor: {enabled: true}}'|would scrape each pod twice",
      "'{admit: {enabled: true, from: [{podSelector: {}}]}, networkPolicy: {enabled: false}}'|so that all may",
      "'{picker: {enabled: true, from: [{podSelector: {}}]}, networkPolicy: {enabled: false}}'|so that all may",
      "'{picker: {enabled: true, pools: true}}'|picker.pools is true"})
  void refusesWhatHasNoEffectOrTwoOfIt(String values, String message) {
    assertThatThrownBy(() -> Chart.replacing(values)).hasMessageContaining(message);
  }

  @Test
  void scrapesPodsAsItScrapesTheService() {
    var chart = Chart.beside("podMonitor: {enabled: true, interval: 20s, labels: {release: main},"
        + " relabelings: [{targetLabel: team, replacement: edge}]}");

    var monitor = chart.only("PodMonitor");
    var pods = chart.only("Deployment").at("/spec/template/metadata/labels");
    monitor.at("/spec/selector/matchLabels").properties().forEach(
        label -> assertThat(pods.path(label.getKey())).isEqualTo(label.getValue()));
    var endpoint = monitor.at("/spec/podMetricsEndpoints/0");
    assertThat(chart.container().path("ports").findValuesAsString("name"))
        .contains(endpoint.path("port").asString());
    assertThat(endpoint.path("path").asString()).isEqualTo("/metrics");
    assertThat(endpoint.path("interval").asString()).isEqualTo("20s");
    assertThat(endpoint.path("relabelings").toString()).isEqualTo(
        "[{\"targetLabel\":\"service\",\"replacement\":\"trial-service\"},{\"replacement\":\"edge\",\"targetLabel\":\"team\"}]");
    assertThat(monitor.at("/metadata/labels/release").asString()).isEqualTo("main");
  }

  @Test
  void scalesBySaturationAsTheExampleServesIt() throws Exception {
    var metrics = Chart.replacing("autoscaling: {saturation: {enabled: true}}")
        .only("HorizontalPodAutoscaler").at("/spec/metrics");

    assertThat(metrics.at("/0/resource/name").asString()).isEqualTo("cpu");
    assertThat(metrics.at("/1/type").asString()).isEqualTo("Pods");
    var name = metrics.at("/1/pods/metric/name").asString();
    assertThat(metrics.at("/1/pods/target/averageValue").asString()).isEqualTo("700m");
    var page = Files.readString(Path.of("docs", "install.md"));
    assertThat(examples(page, "seriesQuery")).singleElement().satisfies(rules -> {
      var rule = rules.at("/rules/custom/0");
      assertThat(rule.path("seriesQuery").asString()).startsWith(name + "{");
      assertThat(rule.at("/resources/overrides/pod/resource").asString()).isEqualTo("pod");
      assertThat(rule.at("/resources/overrides/namespace/resource").asString())
          .isEqualTo("namespace");
    });
    assertThat(examples(page, "kind: ScaledObject")).singleElement().satisfies(keda -> {
      assertThat(keda.at("/spec/triggers/0/metadata/query").asString()).contains(name + "{");
      assertThat(keda.at("/spec/triggers/0/metadata/threshold").asString()).isEqualTo("0.7");
      assertThat(keda.at("/spec/scaleTargetRef/name").asString()).isEqualTo("activator");
    });
  }

  private static List<JsonNode> examples(String page, String word) {
    return Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL).matcher(page).results()
        .map(block -> block.group(1)).filter(block -> block.contains(word))
        .map(block -> new YAMLMapper().readTree(block)).toList();
  }

  @Test
  void leavesTheReplicasToAnotherAutoscaler() {
    var deployment = Chart.replacing("autoscaling: {enabled: false}", "replicas: ''")
        .only("Deployment");

    assertThat(deployment.path("spec").has("replicas")).isFalse();
  }
}
