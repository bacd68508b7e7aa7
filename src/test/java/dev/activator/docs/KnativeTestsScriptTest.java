package dev.activator.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
    executable("bin/kubectl",
        """
            case "$*" in
              *' get deployment activator '*) cat "$IMAGE_FILE" ;;
              *' set image deployment/activator '*) echo "${!#}" | cut -d= -f2 > "$IMAGE_FILE" ;;
              *' rollout status deployment/'*) ;;
              *' get hpa/activator') ;;
              *' get hpa/activator -o jsonpath={.spec}') echo '{"maxReplicas":20,"minReplicas":1}' ;;
              *' get deployment/activator -o jsonpath={.spec.replicas}') echo 3 ;;
              *' get configmap/config-network -o jsonpath={.data}') echo '{"ingress-class":"a \\"b\\""}' ;;
              *' get configmap/config-observability -o jsonpath={.data}') ;;
              *' get lease -o name') printf 'lease/controller.a-certificate.reconciler.00\nlease/webhook\n' ;;
              *' patch '*|*' scale '*|*' rollout restart '*|*' delete '*) echo "${*:6}" >> "$IMAGE_FILE.changes" ;;
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

  private Run run(String... options) throws Exception {
    var command = new ArrayList<>(List.of("bash", folder.resolve("run").toString()));
    command.addAll(List.of(options));
    command.addAll(List.of(folder.resolve("kubeconfig").toString(),
        folder.resolve("programs").toString(), NEW, "--enable-alpha"));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
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

  @Test
  void changesReplicasAndTlsForBothImages_andRestoresThem() throws Exception {
    suite("ha", "--- PASS: TestA (1s)", "--- PASS: TestA (1s)");

    var run = run("--activators", "2", "--tls");

    assertThat(run.exitCode()).as(run.output()).isZero();
    assertThat(folder.resolve("out/table.md")).content()
        .startsWith("| Knative's tests, with 2 activators, system-internal-tls, |");
    assertThat(Files.readAllLines(folder.resolve("image.changes"))).containsExactly(
        "hpa/activator --type merge -p {\"spec\":{\"minReplicas\":2,\"maxReplicas\":2}}",
        "deployment/activator --replicas=2",
        "configmap/config-network --type merge -p {\"data\":{\"system-internal-tls\":\"enabled\"}}",
        "configmap/config-observability --type merge -p {\"data\":{\"logging.enable-request-log\":\"true\","
            + "\"logging.request-log-template\":\"TLS: {{.Request.TLS}}\"}}",
        "restart deployment/controller deployment/activator",
        "hpa/activator --type json -p [{\"op\":\"add\",\"path\":\"/spec\",\"value\":{\"maxReplicas\":20,\"minReplicas\":1}}]",
        "configmap/config-network --type json -p [{\"op\":\"add\",\"path\":\"/data\",\"value\":{\"ingress-class\":\"a \\\"b\\\"\"}}]",
        "configmap/config-observability --type json -p [{\"op\":\"add\",\"path\":\"/data\",\"value\":{}}]",
        "deployment/activator --replicas=3", "restart deployment/controller deployment/activator",
        "lease/controller.a-certificate.reconciler.00");
    assertThat(image()).isEqualTo(OLD);
  }

  @Test
  void refusesAnUnknownOption() throws Exception {
    suite("ha", "--- PASS: TestA (1s)", "--- PASS: TestA (1s)");

    assertThat(run("--activators", "none").exitCode()).isEqualTo(2);
    assertThat(run("--mesh").output())
        .contains("test/knative/run [--activators N] [--tls] KUBECONFIG");
  }
}
