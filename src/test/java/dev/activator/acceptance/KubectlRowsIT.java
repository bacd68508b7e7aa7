package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.MultipleFailuresError;

/**
 * The kubectl of the PATH gets from embedded mode the answers of {@code src/test/kubectl/rows.txt}, which
 * are a cluster's. With the property {@code kubectl.server} it asks that server instead.
 *
 * <p>Whole answers are compared with {@link KubectlAnswers} if kubectl is of the minor that recorded them.
 */
class KubectlRowsIT {
  private static final Path ROWS = Path.of("src/test/kubectl/rows.txt");
  private static final int TIMEOUT_SECONDS = 180;
  /** Of the kubectl whose answers are in the file; others word some of them differently. */
  private static final String KUBECTL_MINOR = "1.32";
  private static final boolean RECORDS = Boolean.getBoolean("kubectl.record");

  @TempDir
  private static Path home;
  private static String kubectl;
  private static String server;
  private static boolean cluster;
  private static boolean compares;
  private static KubectlAnswers answers;
  private static ActivatorProcess activator;

  private record Row(String title, List<Step> steps) {
    /** Else it differs on purpose: nothing is expected of a cluster. */
    boolean asACluster() {
      return !title.contains("embedded:");
    }

    boolean needsKnative() {
      return title.contains("knative:");
    }
  }

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
    cluster = server != null;
    answers = new KubectlAnswers(cluster);
    if (!cluster) {
      activator = ActivatorProcess.started().ready();
      server = activator.api();
    }
    compares = answer("version --client").text().contains("v" + KUBECTL_MINOR + ".");
  }

  @AfterAll
  static void stop() throws Exception {
    if (RECORDS) {
      answers.write();
    }
    if (activator != null) {
      activator.close();
    }
  }

  @Test
  void everyDifferenceHasAReason() {
    assertThat(answers.unexplained()).isEmpty();
  }

  /** The table of {@code docs/compatibility.md} has the verbs of the rows, and says which ones differ. */
  @Test
  void theTableOfVerbsIsTrue() throws IOException {
    var table = new TreeMap<String, String>();
    var page = Files.readString(Path.of("docs/compatibility.md"));
    page.split("\n\\| kubectl \\|")[1].split("\n\n")[0].lines().skip(2)
        .map(row -> row.split(" *\\| *"))
        .forEach(row -> Pattern.compile("`([^`]+)`").matcher(row[1]).results()
            .forEach(verb -> table.put(verb.group(1), row[2])));
    var verbs = rows().stream().flatMap(row -> row.steps().stream())
        .map(step -> KubectlAnswers.verb(step.arguments()))
        .collect(Collectors.toCollection(TreeSet::new));
    // KubectlTest runs it, since it does not end by itself.
    verbs.add("port-forward");
    assertThat(table.keySet()).isEqualTo(verbs);
    assertThat(table.entrySet().stream().filter(row -> row.getValue().equals("the same"))
        .map(Map.Entry::getKey)).doesNotContainAnyElementsOf(answers.verbsThatDiffer());
  }

  @TestFactory
  Stream<DynamicTest> answersAsACluster() throws IOException {
    return rows().stream().map(row -> DynamicTest.dynamicTest(row.title(), () -> run(row)));
  }

  private static void run(Row row) {
    var keys = row.steps().stream().map(step -> answers.key(row.title(), step.arguments()))
        .toList();
    assumeTrue(!cluster || !row.needsKnative(), "the cluster has no Knative");
    boolean expects = !cluster || row.asACluster();
    var failures = new ArrayList<Throwable>();
    for (int i = 0; i < keys.size(); i++) {
      try {
        run(row.steps().get(i), keys.get(i), expects);
      } catch (AssertionError | ConditionTimeoutException e) {
        failures.add(e);
      }
    }
    if (!failures.isEmpty()) {
      throw new MultipleFailuresError(row.title(), failures);
    }
  }

  private static void run(Step step, String key, boolean expects) {
    if (step.repeated() && expects) {
      await().atMost(Duration.ofSeconds(TIMEOUT_SECONDS))
          .untilAsserted(() -> attempt(step, key, true));
    } else {
      attempt(step, key, expects);
    }
  }

  private static void attempt(Step step, String key, boolean expects) {
    var answer = answer(step.arguments());
    if (compares && RECORDS) {
      answers.record(key, answer.code(), answer.text());
    }
    if (expects) {
      answer.check(step);
    }
    if (compares && !RECORDS) {
      answers.check(key, answer.code(), answer.text());
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
