package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The image as a container runs it, without an engine: the root file system that
 * {@code bin/image-root} makes, copied as layers are, where nothing can be written, by a user who
 * owns none of it.
 */
class ImageRootIT {
  private static final Path PROJECT = Path.of("").toAbsolutePath();
  /** Where nobody else writes; has the image's folder, and a kubeconfig. */
  private static Path directory;
  private static Path root;

  @BeforeAll
  static void build() throws Exception {
    assumeTrue(DeployedActivator.isPossible(), "no setpriv to leave root with");
    var jar = Path.of(System.getProperty("activator.jar"));
    var made = jar.resolveSibling("image");
    run(PROJECT.resolve("bin/image-root").toString(), jar.toString(), made.toString());
    directory = Files.createTempDirectory("image").toRealPath();
    root = directory.resolve("root");
    run("cp", "-a", made.toString(), root.toString());
    run("chmod", "-R", "a+rX,a-w", root.toString());
    run("chmod", "a+rx", directory.toString());
  }

  @AfterAll
  static void delete() throws Exception {
    if (directory != null) {
      run("chmod", "-R", "u+w", directory.toString());
      run("rm", "-r", directory.toString());
    }
  }

  @Test
  void startsFromItsCacheAndWritesNothing() throws Exception {
    try (var cluster = new FakeCluster()) {
      cluster.revision("hello");
      cluster.scaleUp("hello");
      // given a JVM that would rather end than do without the cache, and no place for temporary files
      var strict = Map.of("JDK_JAVA_OPTIONS",
          "-XX:AOTMode=on -Xlog:aot -Djava.io.tmpdir=/nowhere -XX:MaxRAM=600m",
          "ACTIVATOR_CLUSTER_AUTOSCALER", cluster.autoscalerUrl());
      var kubeconfig = DeployedActivator.kubeconfig(directory, cluster.api.url());

      // when it runs as nobody
      try (var activator = DeployedActivator.start(program(), root.resolve("app"), kubeconfig,
          strict)) {
        var answer = activator.ready().ask("hello", "/");
        tell(activator);

        // then it serves, wired when it was built, with cache and native transport from where they are
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(activator.log()).contains("Opened AOT cache activator.aot",
            "Starting AOT-processed ClusterActivator");
        assertThat(Files.readString(Path.of("/proc", activator.pid() + "", "maps")))
            .contains(root + "/app/activator.aot")
            .contains(root + "/app/native/libnetty_transport_native_epoll");

        // when Kubernetes ends the one process there is, then it drains and ends
        activator.terminate();
        assertThat(activator.exitCode()).isZero();
        assertThat(activator.log()).contains("Draining").doesNotContain("\"severity\":\"ERROR\"");
      }
    }
  }

  @Test
  void holdsNothingThatIsWrittenTo() throws Exception {
    try (var files = Files.walk(root)) {
      assertThat(files.map(file -> root.relativize(file).toString())).contains("app/activator.jar",
          "app/activator.aot", "app/java.options", "opt/java/bin/java")
          .noneMatch(name -> name.endsWith(".notes") || name.startsWith("tmp"));
    }
  }

  @Test
  void holdsNoEmbeddedMode() throws Exception {
    try (var jar = new JarFile(root.resolve("app/activator.jar").toFile());
        var libraries = new JarFile(root.resolve("app/lib/libraries.jar").toFile())) {
      assertThat(jar.stream().map(ZipEntry::getName))
          .contains("dev/activator/ClusterActivator.class")
          .noneMatch(name -> name.startsWith("dev/activator/embedded/")
              || name.startsWith("embedded/") || name.equals("application-embedded.yaml"));
      assertThat(libraries.stream().map(ZipEntry::getName)).contains("META-INF/spring.factories",
          "META-INF/maven/org.springframework/spring-core/pom.properties")
          .noneMatch(name -> name.startsWith("org/pcollections/"));
      assertThat(root.resolve("app/lib").toFile().list()).containsExactly("libraries.jar");
    }
  }

  @Test
  void saysInOneSentenceThatTheJarHasEmbeddedMode() throws Exception {
    for (var environment : List.of(Map.<String, String>of(),
        Map.of("ACTIVATOR_MODE", "embedded"))) {
      try (
          var activator = ActivatorProcess.startedAs(program(), root.resolve("app"), environment)) {
        assertThat(activator.exitCode()).isEqualTo(1);
        assertThat(activator.log().lines()).singleElement().asString()
            .contains("Cannot start: this image has no embedded mode", "java -jar activator.jar");
      }
    }
  }

  @Test
  void setsWhatJdksDifferIn() throws Exception {
    var java = root.resolve("opt/java/bin/java").toString();
    var command = new ArrayList<>(List.of("env", "-C", root.resolve("app").toString(), java));
    try (var lines = Files.lines(root.resolve("app/java.options"))) {
      lines.filter(line -> line.startsWith("-XX:")).forEach(command::add);
    }
    command.addAll(List.of("-XX:+PrintFlagsFinal", "-version"));

    assertThat(start(Map.of(), command.toArray(String[]::new)).lines()
        .filter(line -> line.contains("{command line}") || line.contains("{diagnostic}"))
        .map(line -> line.strip().replaceAll("\\s+", " ")))
        .anyMatch(line -> line.startsWith("bool UseSerialGC = true"))
        .anyMatch(line -> line.startsWith("bool UseCompactObjectHeaders = true"))
        .anyMatch(line -> line.startsWith("ccstr AOTCache = activator.aot"));
  }

  @Test
  void saysWhichJdkItNeeds() throws Exception {
    var received = start(Map.of("JAVA_HOME", "/nowhere", "PATH", "/usr/bin:/bin"),
        PROJECT.resolve("bin/image-root").toString(), "/no/such.jar");

    assertThat(received)
        .contains("JAVA_HOME is /nowhere, which is no JDK; it must be JDK 25 or later");
  }

  private static List<String> program() {
    return List.of(root + "/opt/java/bin/java", "@java.options");
  }

  /** The figures, for people; the machine may be busy, so that none is asserted. */
  private static void tell(DeployedActivator activator) throws IOException {
    var seconds = Pattern.compile("process running for ([0-9.]+)").matcher(activator.log());
    var memory = Pattern.compile("VmRSS:\\s+(\\d+) kB")
        .matcher(Files.readString(Path.of("/proc", activator.pid() + "", "status")));
    if (seconds.find() && memory.find()) {
      System.out.println("image: ready after " + seconds.group(1) + " s (budget 1.5 s on two idle "
          + "processors), " + Integer.parseInt(memory.group(1)) / 1024 + " MB resident");
    }
  }

  private static void run(String... command) throws Exception {
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    var process = builder.start();
    var output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(10, TimeUnit.MINUTES)).as(output).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
  }

  private static String start(Map<String, String> environment, String... command)
      throws Exception {
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    var process = builder.start();
    var output = new String(process.getInputStream().readAllBytes());
    process.waitFor();
    return output;
  }
}
