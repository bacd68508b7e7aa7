package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.io.ClassPathResource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The table in docs/configuration.md is what the records say. After a change, put what the test has
 * written to target/properties.md there.
 */
class ConfigurationDocTest {
  private static final Path DOC = Path.of("docs", "configuration.md");
  private static final Path FRESH = Path.of("target", "properties.md");
  private static final String BEGIN = "<!-- begin: written by ConfigurationDocTest -->\n";
  private static final String END = "<!-- end -->";
  private static final Pattern CODE = Pattern.compile("\\{@code\\s+([^}]*)}");
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Z0-9_]+):(.*)}");

  /** A property, as the compiler has written it down from its record. */
  private record Property(String name, String description, String defaultValue) {
    static Property of(JsonNode node) {
      var usual = node.path("defaultValue");
      return new Property(node.path("name").asString(""),
          node.path("description").asString("").strip().replaceAll("\\s+", " "), usual.isArray()
              ? String.join(",", usual.valueStream().map(item -> item.asString("")).toList())
              : usual.asString(""));
    }
  }

  private static List<Property> properties() throws IOException {
    var all = new ArrayList<Property>();
    for (var url : Collections.list(ConfigurationDocTest.class.getClassLoader()
        .getResources("META-INF/spring-configuration-metadata.json"))) {
      try (var in = url.openStream()) {
        JsonMapper.shared().readTree(in).path("properties").valueStream().map(Property::of)
            .filter(property -> property.name.startsWith("activator.")).forEach(all::add);
      }
    }
    all.sort(Comparator.comparing(Property::name));
    return all;
  }

  /** Which variable sets a property, from our own files. */
  private static Map<String, String> variables() throws IOException {
    var variables = new TreeMap<String, String>();
    for (var file : List.of("application-cluster.yaml", "application.yaml")) {
      for (var source : new YamlPropertySourceLoader().load(file, new ClassPathResource(file))) {
        var all = (EnumerablePropertySource<?>) source;
        for (var name : all.getPropertyNames()) {
          var variable = VARIABLE.matcher(String.valueOf(all.getProperty(name)));
          if (variable.matches()) {
            variables.put(name, variable.group(1));
          }
        }
      }
    }
    variables.put("activator.tls.min-version", "ACTIVATOR_TLS_MIN_VERSION");
    variables.put("activator.tls.max-version", "ACTIVATOR_TLS_MAX_VERSION");
    variables.put("activator.tls.cipher-suites", "ACTIVATOR_TLS_CIPHER_SUITES");
    variables.put("activator.tls.curve-preferences", "ACTIVATOR_TLS_CURVE_PREFERENCES");
    return variables;
  }

  private static String table() throws IOException {
    var variables = variables();
    var table = new StringBuilder(
        "| property | default | what it is, and its variable |\n|---|---|---|\n");
    for (var property : properties()) {
      var variable = variables.get(property.name());
      table.append("| `").append(property.name()).append("` | ")
          .append(code(property.defaultValue())).append(" | ")
          .append(CODE.matcher(property.description()).replaceAll("`$1`"))
          .append(variable == null ? "" : " (`" + variable + "`)").append(" |\n");
    }
    return table.toString();
  }

  private static String code(String text) {
    return text.isEmpty() ? "" : "`" + text + "`";
  }

  @Test
  void theTableIsWhatTheRecordsSay() throws IOException {
    var table = table();
    Files.writeString(FRESH, table);
    var doc = Files.readString(DOC);

    assertThat(doc).contains(BEGIN, END);
    assertThat(doc.substring(doc.indexOf(BEGIN) + BEGIN.length(), doc.indexOf(END)))
        .as("docs/configuration.md; what should be there is in target/properties.md")
        .isEqualTo(table);
  }

  @Test
  @DisplayName("every variable of Knative's activator is in the table")
  void everyVariableIsInTheTable() throws IOException {
    var doc = Files.readString(DOC);
    assertThat(List.of("POD_NAME", "POD_IP", "SYSTEM_NAMESPACE", "MAX_IDLE_PROXY_CONNS",
        "MAX_IDLE_PROXY_CONNS_PER_HOST", "PROBE_TIMEOUT", "PROBE_FREQUENCY",
        "CONFIG_LOGGING_NAME", "CONFIG_OBSERVABILITY_NAME", "CLUSTER_DOMAIN",
        "KUBERNETES_MIN_VERSION", "KUBECONFIG", "KUBE_API_QPS", "KUBE_API_BURST",
        "PROFILING_PORT", "ACTIVATOR_TLS_MIN_VERSION", "ACTIVATOR_TLS_MAX_VERSION",
        "METRICS_PROMETHEUS_HOST", "METRICS_PROMETHEUS_PORT", "METRICS_PROMETHEUS_TLS_CERT",
        "METRICS_PROMETHEUS_TLS_KEY", "METRICS_PROMETHEUS_TLS_CLIENT_AUTH",
        "METRICS_PROMETHEUS_TLS_CLIENT_CA_FILE", "METRICS_PROMETHEUS_TLS_MIN_VERSION",
        "METRICS_PROMETHEUS_TLS_MAX_VERSION", "METRICS_PROMETHEUS_TLS_CIPHER_SUITES",
        "METRICS_PROMETHEUS_TLS_CURVE_PREFERENCES", "HTTP_PROXY", "HTTPS_PROXY",
        "NO_PROXY")).allSatisfy(
            variable -> assertThat(doc).contains(" (`" + variable + "`) |\n"));
  }

  @Test
  void everyPropertyHasASentence() throws IOException {
    assertThat(properties()).isNotEmpty().allSatisfy(
        property -> assertThat(property.description()).as(property.name()).isNotBlank());
  }

  @Test
  void everyPropertyIsKnownAtAStart() throws IOException {
    assertThat(EffectiveProperties.names())
        .isEqualTo(properties().stream().map(Property::name).toList());
  }
}
