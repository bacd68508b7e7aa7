package dev.activator.observability;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The list of meters, and the page that is written from it. */
class MetricDefinitionTest {
  private static final Path PAGE = Path.of("docs/operations.md");
  private static final String BEGIN = "<!-- The table is written from MetricDefinition.java. -->\n";
  private static final String END = "<!-- End of the table. -->\n";
  private static final String TAGS_OF_A_REQUEST = tags(MetricDefinition.SERVER_DURATION);

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"kn.revision.request.concurrency, kn_revision_request_concurrency",
      "kn.revision.request.queued, kn_revision_request_queued",
      "kn.revision.request.active, kn_revision_request_active",
      "kn.activator.stats.conn.reachable, kn_activator_stats_conn_reachable",
      "kn.activator.stats.conn.errors, kn_activator_stats_conn_errors_total",
      "http.server.request.duration, http_server_request_duration_seconds",
      "http.server.request.body.size, http_server_request_body_size_bytes",
      "http.server.response.body.size, http_server_response_body_size_bytes",
      "http.client.request.duration, http_client_request_duration_seconds",
      "http.client.request.body.size, http_client_request_body_size_bytes"})
  void isNamedAsDashboardsExpect(String name, String prometheusName) {
    assertThat(Stream.of(MetricDefinition.values()).filter(metric -> metric.text().equals(name)))
        .singleElement().extracting(MetricDefinitionTest::prometheusName).isEqualTo(prometheusName);
  }

  @Test
  void isWhatThePageSays() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();

    assertThat(page.substring(begin, page.indexOf(END)))
        .as("%s is not what MetricDefinition.java says; what it should say between the two comments is",
            PAGE)
        .isEqualTo(table());
  }

  /** The rules of {@code promtool check metrics} for what is ours; Knative's names are Knative's. */
  @Test
  void followsTheRulesOfPromtool() {
    for (var metric : MetricDefinition.values()) {
      if (metric.text().startsWith("activator.")) {
        assertThat(prometheusName(metric)).as("%s", metric)
            .doesNotMatch(".*_(count|sum|bucket|info)")
            .doesNotMatch(".*_(ms|ns|us|s|sec|secs|min|hrs|kb|mb|gb|b)(_.*)?")
            .doesNotMatch(".*_(milliseconds|minutes|hours|kilobytes|megabytes|percent)(_.*)?")
            .doesNotContain("_gauge", "_counter", "_histogram").matches("[a-z_]+");
        assertThat(metric.familyName()).doesNotEndWith("_total");
        assertThat(metric.sentence()).isNotBlank();
      }
    }
  }

  private static String table() {
    return "*request* stands for " + TAGS_OF_A_REQUEST + ".\n\n"
        + "| meter | for Prometheus | tags | what it says |\n|---|---|---|---|\n"
        + Stream.of(MetricDefinition.values()).map(MetricDefinitionTest::row)
            .collect(Collectors.joining());
  }

  private static String prometheusName(MetricDefinition metric) {
    return metric.familyName() + (metric.kind() == MetricDefinition.Kind.COUNTER ? "_total" : "");
  }

  private static String row(MetricDefinition metric) {
    return "| `%s` | `%s` | %s | %s%s |%n".formatted(metric.text(), prometheusName(metric),
        tags(metric).replace(TAGS_OF_A_REQUEST, "*request*"),
        metric.kind() == MetricDefinition.Kind.HISTOGRAM ? "Histogram. " : "", metric.sentence());
  }

  private static String tags(MetricDefinition metric) {
    return metric.tags().stream().map(tag -> "`" + tag + "`").collect(Collectors.joining(", "));
  }
}
