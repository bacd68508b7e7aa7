package dev.activator.chart;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The chart's README has a row for each value, with the comment that stands above it in values.yaml. */
class ChartReadmeTest {
  private static final Path README = Chart.SOURCE.resolve("README.md");
  private static final Path VALUES = Chart.SOURCE.resolve("values.yaml");
  private static final String BEGIN = "<!-- values -->\n";
  private static final String END = "<!-- end of values -->\n";
  /** Whose fields are Kubernetes' or the user's. */
  private static final List<String> PARTS_OF_OBJECTS = List.of("resources", "securityContext",
      "readinessProbe", "livenessProbe");
  private static final Pattern KEY = Pattern.compile("( *)([A-Za-z_]+):(.*)");

  /** Run with {@code -Dchart.readme=write} to write it. */
  @Test
  void saysWhatValuesYamlSays() throws Exception {
    String readme = Files.readString(README);
    int begin = readme.indexOf(BEGIN) + BEGIN.length();
    String expected = readme.substring(0, begin) + table()
        + readme.substring(readme.indexOf(END));
    if ("write".equals(System.getProperty("chart.readme"))) {
      Files.writeString(README, expected);
    }

    assertThat(readme).as("%s; write it with -Dchart.readme=write", README).isEqualTo(expected);
  }

  @Test
  void everyValueIsDescribed() throws Exception {
    assertThat(table().lines().skip(2)).isNotEmpty()
        .allSatisfy(row -> assertThat(row).matches("\\| `[^`]+` \\| `[^`]*` \\| \\S.*\\S \\|"));
  }

  private static String table() throws Exception {
    var values = new YAMLMapper().readTree(Files.readString(VALUES));
    var rows = new StringBuilder("| value | default | what it is |\n|---|---|---|\n");
    var path = new ArrayList<String>();
    var comment = new ArrayList<String>();
    for (String line : Files.readAllLines(VALUES)) {
      var key = KEY.matcher(line);
      if (line.strip().startsWith("# ")) {
        comment.add(line.strip().substring(2));
      } else if (line.isBlank()) {
        comment.clear();
      } else if (key.matches()) {
        int depth = key.group(1).length() / 2;
        path.subList(Math.min(depth, path.size()), path.size()).clear();
        path.add(key.group(2));
        if (isShown(values, path, comment)) {
          rows.append("| `").append(String.join(".", path)).append("` | `")
              .append(value(values, path)).append("` | ")
              .append(String.join(" ", comment).replace("|", "\\|")).append(" |\n");
        }
        comment.clear();
      }
    }
    return rows.toString();
  }

  /** Leaves, and groups with a comment of their own. */
  private static boolean isShown(JsonNode values, List<String> path, List<String> comment) {
    boolean part = path.size() > 1 && PARTS_OF_OBJECTS.contains(path.get(path.size() - 2))
        || path.size() > 2 || path.getFirst().equals("tests");
    var value = at(values, path);
    return !part && (!comment.isEmpty() || value.isValueNode() || value.isEmpty());
  }

  private static String value(JsonNode values, List<String> path) {
    var value = at(values, path);
    return value.isString() && value.asString().isEmpty()
        ? "\"\""
        : value.isString() ? value.asString() : value.toString();
  }

  private static JsonNode at(JsonNode values, List<String> path) {
    return values.at("/" + String.join("/", path));
  }
}
