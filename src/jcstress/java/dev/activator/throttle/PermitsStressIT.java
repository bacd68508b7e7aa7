package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openjdk.jcstress.annotations.JCStressTest;

/**
 * {@link RevisionPermitsStress} for some seconds on two processors, or a minute with {@code mvn -Plong}, in one
 * kind of JVM. {@code bench/throttle jcstress} runs all kinds for half an hour.
 */
class PermitsStressIT {
  private static final Path DIRECTORY = Path.of("target", "jcstress");
  private static final Path OUTPUT = DIRECTORY.resolve("output.txt");
  private static final String REPORT = "report";

  @BeforeEach
  void forgetTheLastRun() throws IOException {
    if (Files.exists(DIRECTORY)) {
      try (var files = Files.walk(DIRECTORY)) {
        for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
    Files.createDirectories(DIRECTORY);
  }

  @Test
  void noInterleavingOfTwoThreadsBreaksThem() throws Exception {
    // when all orders are tried that the machine can think of
    int exitCode = run("-m", "quick", "-f", "1", "-fsm", "1", "-iters", "5", "-time",
        System.getProperty("jcstress.milliseconds", "100"),
        // One kind of JVM, and not each that can be had of it.
        "-sc", "false", "-jvmArgs", "-XX:+UseSerialGC");

    // then nothing forbidden was seen
    assertThat(exitCode).as(Files.readString(OUTPUT)).isZero();
    // and each test was run, as none at all would be no failure
    assertThat(reports()).isNotEmpty().containsExactlyInAnyOrderElementsOf(tests());
  }

  private static int run(String... options) throws Exception {
    var command = Stream.concat(
        Stream.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
            "-cp", System.getProperty("java.class.path"), "org.openjdk.jcstress.Main", "-t",
            RevisionPermitsStress.class.getName(), "-r", REPORT),
        Stream.of(options)).toList();
    var process = new ProcessBuilder(command).directory(DIRECTORY.toFile())
        .redirectErrorStream(true).redirectOutput(OUTPUT.toFile()).start();
    try {
      assertThat(process.waitFor(15, TimeUnit.MINUTES)).as("it ends").isTrue();
      return process.exitValue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  /** The classes of which it wrote a report. */
  private static List<String> reports() throws IOException {
    try (var files = Files.list(DIRECTORY.resolve(REPORT))) {
      return files.map(file -> file.getFileName().toString())
          .filter(name -> name.startsWith(RevisionPermitsStress.class.getName()))
          .map(name -> name.substring(0, name.length() - ".html".length())).toList();
    }
  }

  private static List<String> tests() {
    return Stream.of(RevisionPermitsStress.class.getDeclaredClasses())
        .filter(each -> each.isAnnotationPresent(JCStressTest.class)).map(Class::getCanonicalName)
        .toList();
  }
}
