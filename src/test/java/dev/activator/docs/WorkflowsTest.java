package dev.activator.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** What only runs elsewhere: that it can be read, and the rules that hold for all of it. */
class WorkflowsTest {
  private static final Path GITHUB = Path.of(".github");

  @Test
  void grantNothingByDefaultAndEndByThemselves() throws Exception {
    var workflows = new ArrayList<Path>();
    try (var files = Files.list(GITHUB.resolve("workflows"))) {
      files.forEach(workflows::add);
    }
    assertThat(workflows).isNotEmpty().allSatisfy(file -> {
      JsonNode workflow = new YAMLMapper().readTree(Files.readString(file));
      assertThat(workflow.at("/permissions/contents").asString()).isEqualTo("read");
      assertThat(workflow.path("jobs")).isNotEmpty()
          .allSatisfy(job -> assertThat(job.path("timeout-minutes").asInt()).isPositive());
    });
  }

  @Test
  void expectTheExitCodeThatTheProductSaysItHas() throws Exception {
    assertThat(Files.readString(Path.of("docs", "operations.md"))).contains("| 0 | SIGTERM");

    assertThat(Files.readString(GITHUB.resolve("workflows/build.yml")))
        .contains("'{{.State.ExitCode}}' activator)\" = 0\n");
  }

  @Test
  void runKnativesTestsWithTheVersionsThatTheDocsName() throws Exception {
    JsonNode matrix = new YAMLMapper()
        .readTree(Files.readString(GITHUB.resolve("workflows/knative.yml")))
        .at("/jobs/test/strategy/matrix");
    var knative = matrix.path("knative").valueStream().map(JsonNode::asString).toList();
    var kubernetes = matrix.path("kubernetes").valueStream()
        .map(image -> image.asString().replaceAll("v([0-9.]+)@.*", "$1")).toList();

    assertThat(Files.readString(Path.of("docs/releases.md"))).contains(
        "| " + String.join(" and ", kubernetes) + " (kind) | " + String.join(", ", knative) + " |");
    assertThat(Files.readString(Path.of("docs/compatibility.md")))
        .contains("to " + knative.getLast() + "\n");
  }

  @Test
  void releaseOnlyWhatTheTagNames() throws Exception {
    assertThat(Files.readString(GITHUB.resolve("workflows/release.yml")))
        .contains("\"version: ${GITHUB_REF_NAME#v}\"", "\"appVersion: ${GITHUB_REF_NAME#v}\"");
  }

  @Test
  void updatesAreConfiguredInJson() throws Exception {
    JsonNode renovate = JsonMapper.shared()
        .readTree(Files.readString(GITHUB.resolve("renovate.json")));

    assertThat(renovate.path("packageRules")).isNotEmpty().allSatisfy(
        rule -> assertThat(rule.path("description").asString()).isNotBlank());
  }

  @Test
  void useActionsOfOneCommit() throws Exception {
    try (var files = Files.list(GITHUB.resolve("workflows"))) {
      for (var file : files.toList()) {
        assertThat(Files.readAllLines(file)).filteredOn(line -> line.contains("uses: "))
            .allMatch(line -> line.matches(".*uses: [\\w-]+/[\\w-]+@[0-9a-f]{40} # v[0-9.]+"));
      }
    }
  }
}
