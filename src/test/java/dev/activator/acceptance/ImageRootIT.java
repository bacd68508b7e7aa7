package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
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
  private static final String NOBODY = "65534";

  private static Path root;

  @BeforeAll
  static void build() throws Exception {
    var jar = Path.of(System.getProperty("activator.jar"));
    var made = jar.resolveSibling("image");
    run(PROJECT.resolve("bin/image-root").toString(), jar.toString(), made.toString());
    root = Files.createTempDirectory("image").toRealPath();
    run("cp", "-a", made + "/.", root.toString());
    run("chmod", "-R", "a+rX,a-w", root.toString());
  }

  @AfterAll
  static void delete() throws Exception {
    if (root != null) {
      run("chmod", "-R", "u+w", root.toString());
      run("rm", "-r", root.toString());
    }
  }

  @Test
  void startsFromItsCacheAndWritesNothing() throws Exception {
    // given a JVM that would rather end than do without the cache, and no place for temporary files
    var strict = Map.of("JDK_JAVA_OPTIONS",
        "-XX:AOTMode=on -Xlog:aot -Djava.io.tmpdir=/nowhere -XX:MaxRAM=600m");

    // when it runs as nobody
    try (var activator = ActivatorProcess.startedAs(asNobody(), root.resolve("app"), strict)) {
      var answer = new Curl(activator.ready()).get("hello.default.localhost");
      tell(activator);

      // then it serves, wired when it was built, with cache and native transport from where they are
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(activator.log()).contains("Opened AOT cache activator.aot",
          "Starting AOT-processed EmbeddedActivator");
      assertThat(Files.readString(Path.of("/proc", activator.pid() + "", "maps")))
          .contains(root + "/app/activator.aot")
          .contains(root + "/app/native/libnetty_transport_native_epoll");

      // when Kubernetes ends the one process there is, then it drains and ends
      activator.terminate();
      assertThat(activator.exitCode()).isZero();
      await()
          .untilAsserted(() -> assertThat(activator.log()).contains("Draining"));
      assertThat(activator.log()).doesNotContain(" ERROR ");
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
  void saysWhichJdkItNeeds() throws Exception {
    var received = start(Map.of("JAVA_HOME", "/nowhere", "PATH", "/usr/bin:/bin"),
        PROJECT.resolve("bin/image-root").toString(), "/no/such.jar");

    assertThat(received)
        .contains("JAVA_HOME is /nowhere, which is no JDK; it must be JDK 25 or later");
  }

  private static List<String> asNobody() throws Exception {
    var command = new ArrayList<String>();
    if (start(Map.of(), "id", "-u").strip().equals("0")) {
      assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "no setpriv to leave root with");
      command.addAll(List.of("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups",
          "--no-new-privs"));
    }
    command.addAll(List.of(root + "/opt/java/bin/java", "@java.options"));
    return command;
  }

  /** The figures, for people; the machine may be busy, so that none is asserted. */
  private static void tell(ActivatorProcess activator) throws IOException {
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
