package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The kubectl of the PATH gets from embedded mode the answers of {@code src/test/kubectl/rows.txt}, which
 * are a cluster's. With the property {@code kubectl.server} it asks that server instead.
 */
class KubectlRowsIT {
  private static final Path ROWS = Path.of("src/test/kubectl/rows.txt");
  private static final int TIMEOUT_SECONDS = 180;

  @TempDir
  private static Path home;
  private static String kubectl;
  private static String server;
  private static ActivatorProcess activator;

  private record Row(String title, List<Step> steps) {}

  private record Step(String prefix, String arguments, List<String> expected) {
    boolean fails() {
      return prefix.contains("!");
    }

    boolean repeated() {
      return prefix.contains("~");
    }
  }

  private record Answer(int code, String text) {
    void check(Step step) {
      assertThat(code != 0).as("failed: %s%n%s", step.arguments(), text).isEqualTo(step.fails());
      for (var line : step.expected()) {
        if (line.startsWith(">")) {
          assertThat(text).as(step.arguments()).contains(line.substring(2));
        } else {
          assertThat(text).as(step.arguments()).doesNotContain(line.substring(2));
        }
      }
    }
  }

  @BeforeAll
  static void start() throws Exception {
    var found = Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
        .map(folder -> Path.of(folder, "kubectl")).filter(Files::isExecutable).findFirst();
    assumeTrue(found.isPresent(), "there is no kubectl in the PATH");
    kubectl = found.get().toString();
    server = System.getProperty("kubectl.server");
    if (server == null) {
      activator = ActivatorProcess.started().ready();
      server = activator.api();
    }
  }

  @AfterAll
  static void stop() throws Exception {
    if (activator != null) {
      activator.close();
    }
  }

  @TestFactory
  Stream<DynamicTest> answersAsACluster() throws IOException {
    return rows().stream().map(row -> DynamicTest.dynamicTest(row.title(),
        () -> row.steps().forEach(KubectlRowsIT::run)));
  }

  private static void run(Step step) {
    if (step.repeated()) {
      await().untilAsserted(() -> answer(step.arguments()).check(step));
    } else {
      answer(step.arguments()).check(step);
    }
  }

  /** Writes the files, and returns the rows. */
  private static List<Row> rows() throws IOException {
    var rows = new ArrayList<Row>();
    var file = new StringBuilder();
    Path written = null;
    for (var line : Files.readAllLines(ROWS)) {
      var words = line.strip().split(" ", 2);
      if (line.startsWith("file ")) {
        file.setLength(0);
        written = home.resolve(words[1]);
      } else if (line.startsWith("row ")) {
        written = null;
        rows.add(new Row(words[1], new ArrayList<>()));
      } else if (line.startsWith("  ") && written != null) {
        Files.writeString(written, file.append(line.substring(2)).append('\n'));
      } else if (line.startsWith("  $")) {
        rows.getLast().steps().add(new Step(words[0], words[1], new ArrayList<>()));
      } else if (line.startsWith("  ")) {
        rows.getLast().steps().getLast().expected().add(line.strip());
      }
    }
    return rows;
  }

  private static Answer answer(String arguments) {
    var command = new ArrayList<>(List.of(kubectl, "-s", server));
    for (var word : arguments.split(" ")) {
      command.add(word.replace("@", home + "/"));
    }
    try {
      var output = Files.createTempFile(home, "out", ".txt");
      var builder = new ProcessBuilder(command).redirectErrorStream(true)
          .redirectOutput(output.toFile());
      builder.environment().put("HOME", home.toString());
      builder.environment().put("KUBE_EDITOR", "sed -i s/before/after/");
      builder.environment().remove("KUBECONFIG");
      var process = builder.start();
      process.getOutputStream().close();
      assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as(arguments).isTrue();
      return new Answer(process.exitValue(), Files.readString(output));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
