package dev.activator.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
    assertThat(Files.readString(Path.of("docs", "operations.md")))
        .contains("**Exit code 0**: SIGTERM");

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
        "| " + String.join(", ", kubernetes) + " (kind) | " + String.join(", ", knative) + " |");
    assertThat(Files.readString(Path.of("docs/compatibility.md")))
        .contains("to " + knative.getLast() + "\n");
  }

  @Test
  void publishTheSameTableAgainWithoutAnError(@TempDir Path folder) throws Exception {
    var publish = new YAMLMapper()
        .readTree(Files.readString(GITHUB.resolve("workflows/knative.yml")))
        .at("/jobs/publish/steps").valueStream()
        .filter(step -> step.path("run").asString("").contains("git push")).findFirst()
        .orElseThrow()
        .path("run").asString();
    Files.writeString(folder.resolve("publish"), publish);
    var script = """
        export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
        git init -q --bare --initial-branch=main origin.git
        git init -q --initial-branch=main work
        cd work
        git remote add origin ../origin.git
        echo a > code
        git add code
        git commit -q -m first
        mkdir -p results/result-one
        echo '## table' > results/result-one/section.md
        for run in first again; do
          git checkout -q --force main
          bash -e -o pipefail ../publish
        done
        git -C ../origin.git ls-tree --name-only results
        git -C ../origin.git show results:knative.md
        """;
    var process = new ProcessBuilder("bash", "-e", "-c", script).directory(folder.toFile())
        .redirectErrorStream(true);
    process.environment().putAll(Map.of("GITHUB_REF_NAME", "main", "GITHUB_REF_TYPE", "branch",
        "GITHUB_SHA", "0123456789abcdef", "GITHUB_SERVER_URL", "https://example.com",
        "GITHUB_REPOSITORY", "a/b", "GITHUB_RUN_ID", "1"));
    var run = process.start();
    var output = new String(run.getInputStream().readAllBytes(), UTF_8);

    assertThat(run.waitFor()).as(output).isZero();
    assertThat(output).contains("\nknative.md\n# Knative's tests\n").endsWith("\n## table\n");
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
