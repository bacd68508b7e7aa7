package dev.activator.chart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Alerts and dashboard ask only for what the activator measures. */
class MonitoringTest {
  private static final Pattern ROW = Pattern.compile("\\| `[a-z.]+` \\| `([a-z_]+)` \\|");
  /** Prometheus's own, of each target. */
  private static final String UP = "up";

  /** A name that is not followed by a bracket: neither a function nor an operator with labels. */
  private static final Pattern METRIC = Pattern.compile("\\b[a-z][a-z0-9_]*\\b(?!\\s*\\()");
  private static final Pattern RECORDED = Pattern.compile("activator:[a-z_:0-9]+");
  private static final Pattern SELECTOR = Pattern.compile("\\{([^}]*)}");
  private static final String NOT_METRICS = "\\{[^}]*}|\\[[^]]*]"
      + "|\\b(by|on|without|ignoring)\\s*\\([^)]*\\)|\\b(unless|and|or|by)\\b";

  @Test
  void alertsNameMetricsThatThereAre() {
    var rules = Chart.replacing("prometheusRule: {enabled: true}").only("PrometheusRule");
    var expressions = texts(rules.findValues("expr"));

    assertThat(expressions).hasSizeGreaterThan(3);
    assertThat(metricsOf(expressions)).isSubsetOf(known());
  }

  @Test
  void dashboardsNameMetricsThatThereAre() {
    assertThat(dashboards()).hasSize(3).allSatisfy(dashboard -> {
      var expressions = texts(dashboard.findValues("expr"));
      assertThat(expressions).hasSizeGreaterThan(8);
      assertThat(metricsOf(expressions)).isSubsetOf(known());
    });
  }

  @Test
  void alertsWhenTheBudgetOfAnObjectiveIsUsedUpTooFast() throws Exception {
    var rules = Chart.replacing(
        "prometheusRule: {enabled: true, slo: {enabled: true, objective: 0.99}}").all(
            "PrometheusRule")
        .stream().map(rule -> rule.at("/spec/groups/0/rules"))
        .filter(found -> found.path(0).has("record")).findFirst().orElseThrow();
    var recorded = new TreeSet<String>();
    for (var rule : rules) {
      var expression = rule.path("expr").asString();
      if (rule.has("record")) {
        recorded.add(rule.path("record").asString());
        assertThat(metricsOf(List.of(expression))).isSubsetOf(known());
      } else {
        assertThat(RECORDED.matcher(expression).results().map(MatchResult::group)).hasSize(2)
            .allSatisfy(name -> assertThat(recorded).contains(name));
        assertThat(expression).contains("(1 - 0.99)");
        assertThat(Files.readString(Path.of("docs", "operations.md")))
            .contains("\n#### " + rule.path("alert").asString() + "\n");
      }
    }
    assertThat(recorded).hasSize(4);
  }

  @Test
  void showsWhatRequestsWaitForAndWhatIsRefused() {
    assertThat(metricsOf(dashboards().stream()
        .flatMap(dashboard -> texts(dashboard.findValues("expr")).stream()).toList())).contains(
            "activator_cold_start_duration_seconds_bucket", "activator_saturation",
            "activator_pod_reaction_seconds_bucket", "activator_probe_duration_seconds_bucket",
            "activator_rejections_total", "activator_informer_watching");
  }

  @Test
  void alertsWhereRequestsAreRefusedOrNewsAreMissed() {
    var rules = Chart.replacing("prometheusRule: {enabled: true}").only("PrometheusRule");

    assertThat(metricsOf(texts(rules.findValues("expr")))).contains("activator_rejections_total",
        "activator_informer_watching", "activator_informer_drift_total");
  }

  @Test
  void findsTheMetricsOfAnExpression() {
    assertThat(metricsOf(List.of("sum by (le, pod) (rate(a_bucket{b=\"c_d\"}[5m])) / min(e) > 0.5"
        + " unless sum by (f) (g_h)"))).containsExactly("a_bucket", "e", "g_h");
  }

  @Test
  void panelsDoNotOverlap() {
    for (var dashboard : dashboards()) {
      panelsDoNotOverlap(dashboard);
    }
  }

  private static void panelsDoNotOverlap(JsonNode dashboard) {
    var taken = new ArrayList<String>();
    for (var panel : dashboard.path("panels")) {
      var place = panel.path("gridPos");
      for (int x = 0; x < place.path("w").asInt(); x++) {
        for (int y = 0; y < place.path("h").asInt(); y++) {
          taken.add((place.path("x").asInt() + x) + "," + (place.path("y").asInt() + y));
        }
      }
    }
    assertThat(taken).doesNotHaveDuplicates();
  }

  @Test
  void everyAlertSaysWhatIsWrong() {
    var rules = Chart.replacing("prometheusRule: {enabled: true}").only("PrometheusRule");

    for (var rule : rules.at("/spec/groups/0/rules")) {
      assertThat(rule.at("/annotations/summary").asString()).isNotBlank();
      assertThat(rule.at("/annotations/description").asString()).isNotBlank();
      assertThat(rule.at("/labels/severity").asString()).isIn("warning", "critical");
    }
  }

  @Test
  void everyAlertLeadsToItsPartOfTheRunbook() throws Exception {
    var runbook = Files.readString(Path.of("docs", "operations.md"));
    var rules = Chart.replacing("prometheusRule: {enabled: true}").only("PrometheusRule");

    for (var rule : rules.at("/spec/groups/0/rules")) {
      var name = rule.path("alert").asString();
      assertThat(rule.at("/annotations/runbook_url").asString())
          .endsWith("/docs/operations.md#" + name.toLowerCase(Locale.ROOT));
      assertThat(runbook).contains("\n#### " + name + "\n");
    }
  }

  @Test
  void alertsOnFiguresInItsOwnNamespaceAndIsInThatItself() {
    var rules = Chart.beside("prometheusRule: {enabled: true}").only("PrometheusRule");

    for (var rule : rules.at("/spec/groups/0/rules")) {
      assertThat(rule.at("/labels/namespace").asString()).isEqualTo("trials");
      var figures = SELECTOR.matcher(rule.path("expr").asString()).results().toList();
      assertThat(figures).isNotEmpty().allSatisfy(figure -> assertThat(figure.group(1))
          .startsWith("service=\"trial-service\", namespace=\"trials\""));
    }
  }

  @Test
  void triesEachAlertOnFiguresThatAreRightAndWrong() throws Exception {
    var rules = Chart.beside("prometheusRule: {enabled: true}").only("PrometheusRule");
    var tried = new YAMLMapper().readTree(Files.readString(Path.of("helm", "alerts-test.yaml")));

    for (int group : List.of(0, 1)) {
      assertThat(texts(tried.path("tests").path(group).findValues("alertname")))
          .containsExactlyInAnyOrderElementsOf(texts(rules.findValues("alert")));
    }
  }

  @Test
  void monitorSelectsTheService() {
    for (var chart : List.of(Chart.replacing("serviceMonitor: {enabled: true}"),
        Chart.beside("serviceMonitor: {enabled: true}"))) {
      var labels = chart.only("Service").at("/metadata/labels");
      var monitor = chart.only("ServiceMonitor");

      monitor.at("/spec/selector/matchLabels").properties().forEach(
          label -> assertThat(labels.path(label.getKey())).isEqualTo(label.getValue()));
      assertThat(texts(chart.only("Service").findValues("name")))
          .contains(monitor.at("/spec/endpoints/0/port").asString());
    }
  }

  private static List<JsonNode> dashboards() {
    var map = Chart.replacing("dashboard: {enabled: true}").only("ConfigMap");
    return map.path("data").valueStream()
        .map(text -> JsonMapper.shared().readTree(text.asString())).toList();
  }

  private static List<String> texts(List<JsonNode> values) {
    return values.stream().map(JsonNode::asString).toList();
  }

  private static Set<String> metricsOf(List<String> expressions) {
    var names = new TreeSet<String>();
    for (String expression : expressions) {
      var found = METRIC.matcher(expression.replaceAll(NOT_METRICS, " "));
      while (found.find()) {
        names.add(found.group());
      }
    }
    return names;
  }

  /** What docs/operations.md says that there is. */
  private static Set<String> known() {
    var known = new TreeSet<>(Set.of(UP));
    for (var meter : documented()) {
      known.add(meter);
      known.addAll(series(meter));
    }
    return known;
  }

  private static List<String> series(String histogram) {
    return List.of(histogram + "_bucket", histogram + "_sum", histogram + "_count");
  }

  /** The second column of the page's table. */
  private static List<String> documented() {
    try {
      var lines = Files.readAllLines(Path.of("docs", "operations.md"));
      return lines.stream().map(ROW::matcher).filter(Matcher::lookingAt).map(row -> row.group(1))
          .toList();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
