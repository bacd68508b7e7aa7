package dev.activator.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code test/knative/run} with programs that take the place of kubectl and of Knative's tests. */
@EnabledOnOs(OS.LINUX)
class KnativeTestsScriptTest {
  private static final String OLD = "gcr.io/knative-releases/activator:v1.23.0";
  private static final String NEW = "ghcr.io/activator-dev/activator:0.1.0";

  @TempDir
  Path folder;

  private record Run(int exitCode, String output) {}

  @BeforeEach
  void create() throws Exception {
    Files.copy(Path.of("test/knative/run"), folder.resolve("run"));
    executable("bin/kubectl", """
        case "$*" in
          *' get deployment activator '*) cat "$IMAGE_FILE" ;;
          *' set image deployment/activator '*) echo "${!#}" | cut -d= -f2 > "$IMAGE_FILE" ;;
          *' rollout status deployment/activator '*) ;;
          *) echo "unexpected: $*" >&2; exit 1 ;;
        esac
        """);
    Files.writeString(folder.resolve("image"), OLD + "\n");
    Files.writeString(folder.resolve("kubeconfig"), "");
    expect("# none\n");
  }

  private void executable(String name, String script) throws Exception {
    var file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/usr/bin/env bash\n" + script);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private void expect(String lines) throws Exception {
    Files.writeString(folder.resolve("expected.tsv"), lines);
  }

  /** Test programs that print one text with the old image, and another with the new one. */
  private void suite(String name, String before, String after) throws Exception {
    executable("programs/" + name + ".test", """
        echo "$*" >> "$IMAGE_FILE.flags"
        if grep -q knative-releases "$IMAGE_FILE"; then cat <<'X'
        %s
        X
        else cat <<'X'
        %s
        X
        fi
        exit 1
        """.formatted(before, after));
  }

  private Run run() throws Exception {
    var builder = new ProcessBuilder("bash", folder.resolve("run").toString(),
        folder.resolve("kubeconfig").toString(), folder.resolve("programs").toString(), NEW,
        "--enable-alpha").redirectErrorStream(true);
    builder.environment().put("PATH",
        folder.resolve("bin") + ":" + System.getenv("PATH"));
    builder.environment().put("IMAGE_FILE", folder.resolve("image").toString());
    builder.environment().put("OUT", folder.resolve("out").toString());
    var process = builder.start();
    var output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
    return new Run(process.exitValue(), output);
  }

  private String image() throws Exception {
    return Files.readString(folder.resolve("image")).strip();
  }

  @Test
  void comparesBothImagesAndSetsTheOldOneAgain() throws Exception {
    suite("v1", "--- PASS: TestA (1.00s)\n    --- PASS: TestA/one (0.10s)\n--- SKIP: TestB (0.00s)",
        "--- PASS: TestA (1.20s)\n    --- PASS: TestA/one (0.10s)\n--- SKIP: TestB (0.00s)");

    var run = run();

    assertThat(run.output()).contains("| `" + OLD + "` | 2 | 0 | 1 |",
        "| `" + NEW + "` | 2 | 0 | 1 |");
    assertThat(run.exitCode()).isZero();
    assertThat(image()).isEqualTo(OLD);
    assertThat(Files.readAllLines(folder.resolve("image.flags"))).hasSize(2)
        .allMatch(flags -> flags.startsWith("-test.v ") && flags.endsWith(" --enable-alpha"));
    assertThat(folder.resolve("out/table.md")).content().contains(NEW);
  }

  @Test
  void failsForATestThatOnlyFailsWithTheNewImage() throws Exception {
    suite("v1", "--- PASS: TestA (1s)\n--- FAIL: TestC (1s)\n--- PASS: TestD (1s)",
        "--- FAIL: TestA (1s)\n--- FAIL: TestC (1s)");

    var run = run();

    assertThat(run.output()).contains("| `v1/TestA` | PASS | FAIL | **unexpected** |",
        // One that fails with both is listed.
        "| `v1/TestC` | FAIL | FAIL |  |",
        // One that did not run with the new image, such as after a panic.
        "| `v1/TestD` | PASS | - | **unexpected** |");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(image()).isEqualTo(OLD);
  }

  @Test
  void acceptsAnExpectedFailure_untilItPasses() throws Exception {
    suite("e2e", "--- PASS: TestA (1s)", "--- FAIL: TestA (1s)");
    expect("# one\ne2e/TestA\tit reads the other's log\n");
    var run = run();
    assertThat(run.output()).contains("| `e2e/TestA` | PASS | FAIL | it reads the other's log |");
    assertThat(run.exitCode()).isZero();

    suite("e2e", "--- PASS: TestA (1s)", "--- PASS: TestA (1s)");
    run = run();
    assertThat(run.output()).contains("remove it from expected.tsv");
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void saysThatAProgramCouldNotRun() throws Exception {
    suite("e2e", "--- PASS: TestA (1s)", "flag provided but not defined: -enable-alpha");

    var run = run();

    assertThat(run.output()).contains("e2e.test has no results", "flag provided but not defined");
    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(image()).isEqualTo(OLD);
  }
}
