package dev.activator.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code bin/kubectl-activator} with a program that takes the place of kubectl. */
@EnabledOnOs(OS.LINUX)
class KubectlPluginTest {
  @TempDir
  Path folder;

  private record Run(int exitCode, String output) {}

  @BeforeEach
  void create() throws Exception {
    var kubectl = folder.resolve("kubectl");
    Files.writeString(kubectl,
        """
            #!/usr/bin/env bash
            echo "$*" >> "$FOLDER/calls"
            case "$*" in
              *'get pods -A '*) cat "$FOLDER/pods" ;;
              *'port-forward pod/activator-lost '*) echo 'error: pod not found' >&2; exit 1 ;;
              *'port-forward pod/activator-1 '*) echo 'Forwarding from 127.0.0.1:40001 -> 8015'; exec sleep 60 ;;
              *'port-forward pod/activator-2 '*) echo 'Forwarding from 127.0.0.1:40002 -> 8015'; exec sleep 60 ;;
              *'config view '*) printf team ;;
              *'--server=http://127.0.0.1:4000'*'/revisions?format=text') echo "REVISION of $1" ;;
              *'--raw /actuator/activator/team/web?format=text')
                [[ $KUBECONFIG == /dev/null ]] || exit 1
                [[ $1 == *:40002 ]] || { echo 'Error from server (NotFound): not here' >&2; exit 1; }
                cat "$FOLDER/web" ;;
              *'--raw /actuator/activator/other/shop?format=text') echo 'other/shop-00002: AT_ZERO' ;;
              *) echo 'Error from server (NotFound): not here' >&2; exit 1 ;;
            esac
            """);
    assertThat(kubectl.toFile().setExecutable(true)).isTrue();
    Files.writeString(folder.resolve("pods"),
        "knative-serving activator-1\nknative-serving activator-2\n");
    Files.writeString(folder.resolve("web"),
        "team/web: STARTING\nPods       10.0.0.1:8012 not ready\n");
  }

  private Run run(String... arguments) throws Exception {
    var command = Stream.concat(Stream.of("bash", "bin/kubectl-activator"), Stream.of(arguments));
    // A file, since the forwarding processes of kubectl would keep a pipe open.
    var output = folder.resolve("output");
    var builder = new ProcessBuilder(command.toList()).redirectErrorStream(true)
        .redirectOutput(output.toFile());
    builder.environment().put("PATH", folder + ":" + System.getenv("PATH"));
    builder.environment().put("FOLDER", folder.toString());
    var process = builder.start();
    assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
    return new Run(process.exitValue(), Files.readString(output));
  }

  @Test
  void printsTheReportOfEachActivatorThatKnowsTheName() throws Exception {
    assertThat(run("explain", "web")).isEqualTo(new Run(0,
        "--- activator-2\nteam/web: STARTING\nPods       10.0.0.1:8012 not ready\n"));
    assertThat(run("explain", "shop", "-n", "other").output()).isEqualTo(
        "--- activator-1\nother/shop-00002: AT_ZERO\n--- activator-2\nother/shop-00002: AT_ZERO\n");
  }

  @Test
  void failsWithAReason_whenNoActivatorKnowsTheName() throws Exception {
    assertThat(run("explain", "nothing"))
        .isEqualTo(new Run(1, "kubectl activator: no activator knows team/nothing: "
            + "Error from server (NotFound): not here\n"));
  }

  @Test
  void readsFromTheOthers_whenAnActivatorCannotBeReached() throws Exception {
    Files.writeString(folder.resolve("pods"), "ns activator-lost\nns activator-2\n");
    assertThat(run("top", "--context", "prod")).isEqualTo(new Run(0,
        "kubectl activator: ns/activator-lost cannot be reached: error: pod not found\n"
            + "--- activator-2\nREVISION of --server=http://127.0.0.1:40002\n"));
    assertThat(Files.readString(folder.resolve("calls"))).contains("--context prod get pods -A");
  }

  @Test
  void failsWithAReason_whenNoActivatorRuns() throws Exception {
    Files.writeString(folder.resolve("pods"), "");
    assertThat(run("top")).isEqualTo(new Run(1,
        "kubectl activator: no running pod has the labels app.kubernetes.io/component=activator\n"));
  }

  @Test
  void waitsUntilAPodServes() throws Exception {
    assertThat(run("wait", "web", "--timeout=0"))
        .satisfies(late -> assertThat(late.exitCode()).isOne()).extracting(Run::output).asString()
        .endsWith("kubectl activator: team/web is not ready after 0 s\n");
    Files.writeString(folder.resolve("web"), "team/web: BUSY\n");
    assertThat(run("wait", "web").exitCode()).isZero();
    assertThat(run("wait", "web", "--for", "zero", "--timeout", "0").exitCode()).isOne();
    Files.writeString(folder.resolve("web"), "team/web: AT_ZERO\n");
    assertThat(run("wait", "web", "--for", "zero").exitCode()).isZero();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"explain | explain needs a name",
      "top web | top takes no name",
      "wait web --for gone | --for gone: only ready and zero",
      "wait web --timeout soon | --timeout soon is no number of seconds",
      "explain web --wide | unknown option --wide", "explain web shop | one name, not also shop"})
  void refusesWrongArguments(String arguments, String reason) throws Exception {
    assertThat(run(arguments.split(" ")))
        .isEqualTo(new Run(2, "kubectl activator: " + reason + "\n"));
    assertThat(folder.resolve("calls")).doesNotExist();
  }
}
